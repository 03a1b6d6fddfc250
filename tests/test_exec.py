"""acl-emu exec."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from acl_emu.cface import toolkit
from tests.cface.programs import clean_environment, compile_program
from tests.command import COMMAND, HELLO, acl_emu, refused
from tests.conftest import PATIENCE


def test_a_program_that_was_built_elsewhere(tmp_path):
    program = compile_program(tmp_path, HELLO, suffix=".cpp")
    done = acl_emu("exec", "--soc", "310P3", "--devices", "3", program, "--soc", "x", "--check")
    assert (done.stdout, done.returncode) == ("Ascend310P3 4 [--soc] [x] [--check] 3\n", 7)


def test_environment_of_the_program():
    names = ("ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH", "ACL_EMU_SCHEDULE", "TASK_QUEUE_ENABLE")
    program = f"import os; print(*(os.environ[name] for name in {names!r}), sep='\\n')"
    done = acl_emu("exec", "--schedule=lazy", sys.executable, "-c", program)
    home, opp, libraries, schedule, queue = done.stdout.splitlines()
    assert (opp, schedule, queue) == (f"{home}/opp", "lazy", "0")
    assert libraries.split(":")[0] == f"{home}/lib64"
    for name in toolkit.OTHER_NAMES:
        assert os.path.exists(f"{home}/lib64/{name}"), name
    for folder in ("runtime", "compiler"):
        assert os.path.isdir(f"{home}/{folder}"), folder
    with open(f"{home}/runtime/version.info", encoding="utf-8") as file:
        assert file.readline() == "Version=9.0.0\n"
    # acl-emu env and set_env.sh say the same.
    said = dict(line.removeprefix("export ").split("=", 1) for line in acl_emu("env").stdout.splitlines())
    assert said["ASCEND_HOME_PATH"] == home
    assert said["TASK_QUEUE_ENABLE"] == "0"


def test_checks(tmp_path):
    program = "import acl_emu as acl; acl.aclrtSetDevice(0); acl.aclrtMalloc(4, 0)"
    done = acl_emu("exec", "--check", sys.executable, "-c", program)
    assert done.returncode == 86
    assert "memory-leaked" in done.stderr
    report = tmp_path / "report.html"
    assert acl_emu("exec", "--report", report, sys.executable, "-c", program).returncode == 0
    assert report.exists()
    done = acl_emu("exec", "--fault", "aclrtMalloc:1=207001", sys.executable, "-c", program + "; import sys; sys.exit(3)")
    assert done.returncode == 3


def test_mistakes():
    assert "no-such-command is no command" in refused("exec", "no-such-command")
    assert "--soc 99 is unknown" in refused("exec", "--soc", "99", "true")
    assert "COMMAND" in acl_emu("exec").stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_signals_reach_the_program(number):
    text = f"import signal, sys; signal.signal({int(number)}, lambda *_: sys.exit(9)); print('ready', flush=True); signal.pause()"
    with subprocess.Popen(
        [COMMAND, "exec", sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, env=clean_environment()
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        assert child.wait(PATIENCE) == 9
