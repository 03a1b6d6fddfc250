"""acl-emu run: signals, what is said when a program has ended, exit codes, and what it is started with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acl_emu.cli import afterwards
from acl_emu.cli.failure import Failure
from acl_emu.cli.process import End
from acl_emu.core import soc
from acl_emu.tools import report
from acl_emu.tools.growing_file import _WINDOW
from acl_emu.tools.report import page
from tests.command import COMMAND, HELLO, acl_emu, refused

WAITS = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include "acl/acl.h"
static volatile int got = 0;
int main(int argc, char** argv) {
    if (argc > 1) std::signal(std::atoi(argv[1]), [](int number) { got = number; });
    aclInit(nullptr);
    std::printf("%d\n", (int)getpid());
    std::fflush(stdout);
    while (!got) pause();
    std::printf("got %d\n", got);
    return 5;
}
"""


def start(*arguments: str | Path, **environment: str) -> tuple[subprocess.Popen[str], int]:
    """A command that runs WAITS, and the number of the program's process."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_", "PYTHON"))}
    process = subprocess.Popen(
        [str(COMMAND), "run", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**env, **environment}
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def is_gone(number: int) -> bool:
    for _ in range(500):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_program_too_and_the_report_is_written(
    tmp_path: Path, warm_cache: dict[str, str], number: signal.Signals
) -> None:
    (tmp_path / "waits.cpp").write_text(WAITS)
    process, program = start("--report", tmp_path / "page.html", "--trace", tmp_path / "trace.json", tmp_path / "waits.cpp", **warm_cache)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert is_gone(program)
    assert "aclInit" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "trace.json").read_text().rstrip().endswith("]")
    assert "Traceback" not in said


def test_a_program_may_handle_a_signal_itself(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "waits.cpp").write_text(WAITS)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        process, _ = start(tmp_path / "waits.cpp", "--", str(int(number)), **warm_cache)
        process.send_signal(number)
        out, _ = process.communicate(timeout=120)
        assert (out, process.returncode) == (f"got {int(number)}\n", 5)


def test_what_is_ignored_stays_ignored(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    """As nohup does: neither the command nor the program ends."""
    (tmp_path / "waits.cpp").write_text(WAITS)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process, program = start(tmp_path / "waits.cpp", **warm_cache)
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    os.kill(program, signal.SIGHUP)
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM


def test_a_signal_stops_a_page_with_several_programs(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    block = f"```cpp\n{WAITS}\n```\n"
    (tmp_path / "page.md").write_text(block + '```cpp\n#include <cstdio>\nint main() { std::puts("second"); }\n```\n')
    process, _ = start(tmp_path / "page.md", **warm_cache)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=120)
    assert (out, process.returncode) == ("", 128 + signal.SIGTERM)


def test_a_report_that_does_not_fit_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_named: object) -> None:
        (tmp_path / "page.html").write_text("half a page")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page, "write", full)
    end = afterwards.Afterwards(None, None, tmp_path / "page.html", several=False)
    end.environment(1, tmp_path)
    report.spool_of(tmp_path / "page.html").write_text("[]")
    with pytest.raises(Failure, match=r"page\.html: No space left on device; the report is not written"):
        end.finish(End(0, by_signal=False, told_to=False), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_full_when_the_report_is_made(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    """A real one, where it may be mounted, with room for the trace of a program that dies, and half of the page."""
    (tmp_path / "dies.cpp").write_text('#include <cstdlib>\n#include "acl/acl.h"\nint main() { aclInit(nullptr); std::abort(); }\n')
    (tmp_path / "disk").mkdir()
    acl_emu("run", tmp_path / "dies.cpp", "--report", tmp_path / "page.html", **warm_cache)
    size = (_WINDOW + (tmp_path / "page.html").stat().st_size // 2) // 1024
    script = f'mount -t tmpfs -o size={size}k tmpfs disk || exit 99; "{COMMAND}" run dies.cpp --report disk/page.html'
    env = {"PATH": os.environ["PATH"], **warm_cache}
    try:
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, env=env)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if done.returncode in (1, 99):
        pytest.skip("nothing can be mounted here")
    assert done.stderr == f"acl-emu: --report {tmp_path}/disk/page.html: No space left on device; the report is not written\n"
    assert done.returncode == 2


def test_a_device_file_is_not_replaced(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "hello.cpp").write_text(HELLO)
    assert "not a file that can be replaced" in refused("run", "--trace", tmp_path, tmp_path / "hello.cpp", **warm_cache)


# The variables of Python


@pytest.mark.parametrize("variable", ["PYTHONHOME", "PYTHONPATH"])
def test_variables_of_python_are_for_the_program(tmp_path: Path, warm_cache: dict[str, str], variable: str) -> None:
    for name in ("click", "acl_emu", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    show = f'std::printf("%d %s\\n", aclInit(nullptr), std::getenv("{variable}"));'
    text = f'#include <cstdio>\n#include <cstdlib>\n#include "acl/acl.h"\nint main() {{ {show} }}\n'
    (tmp_path / "hello.cpp").write_text(text)
    done = acl_emu("run", tmp_path / "hello.cpp", **{**warm_cache, variable: str(tmp_path)})
    assert (done.stdout, done.returncode) == (f"0 {tmp_path}\n", 0), done.stderr


def test_a_python_program_gets_them(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "helper.py").write_text("value = 42\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "program.py").write_text("import helper\nprint(helper.value)\n")
    assert acl_emu("run", tmp_path / "elsewhere" / "program.py", **warm_cache, PYTHONPATH=str(tmp_path)).stdout == "42\n"


def test_the_command_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(COMMAND)
    assert subprocess.run([tmp_path / "linked", "--version"], capture_output=True, text=True).stdout.startswith("acl-emu, version")


# Python programs, chips, exit codes


def test_run_a_python_program(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "-p.py").write_text(
        "import sys, acl_emu as acl\nprint(acl.aclrtGetSocName(), acl.aclrtGetDeviceCount()[0], sys.argv[1:])\n"
        "acl.aclInit(None)\nsys.exit(4)\n"
    )
    done = acl_emu("run", "--soc", "310P3", "--devices", "2", "--", "-p.py", "-x", "two words", cwd=tmp_path, **warm_cache)
    assert (done.stdout, done.returncode) == ("Ascend310P3 2 ['-x', 'two words']\n", 4), done.stderr
    checked = acl_emu("run", "--check", "--", "-p.py", cwd=tmp_path, **warm_cache)
    assert "aclInit, at -p.py:3" in checked.stderr
    assert checked.returncode == 86
    assert "--std is for programs that are compiled" in refused("run", "--std", "c++17", tmp_path / "-p.py", **warm_cache)


@pytest.mark.parametrize(
    ("short", "name"),
    [
        *(("910B", "Ascend910B1"), ("910b3", "Ascend910B3"), ("ascend910b", "Ascend910B1"), ("A2", "Ascend910B1")),
        *(("910_93", "Ascend910_9391"), ("910C", "Ascend910_9391"), ("A3", "Ascend910_9391"), ("ascend910_93", "Ascend910_9391")),
        *(("310P3", "Ascend310P3"), ("310P", "Ascend310P3"), ("310b", "Ascend310B1"), ("910", "Ascend910A"), ("910A", "Ascend910A")),
        *(("950", "Ascend950PR_9589"), ("950DT", "Ascend950DT_95A2"), ("Ascend910B4", "Ascend910B4")),
    ],
)
def test_short_names_of_chips(short: str, name: str) -> None:
    chip = soc.find(short)
    assert chip is not None
    assert chip.name == name


def test_a_short_name_in_the_environment_and_in_options(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "p.py").write_text("import acl_emu\nprint(acl_emu.aclrtGetSocName())\n")
    assert acl_emu("run", tmp_path / "p.py", **warm_cache, ACL_EMU_SOC="310P").stdout == "Ascend310P3\n"
    assert acl_emu("run", "--soc", "910B", tmp_path / "p.py", **warm_cache, ACL_EMU_SOC="310P").stdout == "Ascend910B1\n"
    assert "on Ascend310P3" in acl_emu("explain", "--soc", "310p", "aclnnAdd", "self=4:FLOAT", "other=4:FLOAT").stdout
    assert soc.find("") is None
    assert soc.find("Ascend") is None


@pytest.mark.parametrize("variable", ["ACL_EMU_SOC", "ACL_EMU_SCHEDULE", "ACL_EMU_DEVICES"])
def test_a_value_that_means_nothing_stops_before_the_program_starts(tmp_path: Path, warm_cache: dict[str, str], variable: str) -> None:
    (tmp_path / "p.py").write_text("print('started')\n")
    done = acl_emu("run", tmp_path / "p.py", **{**warm_cache, variable: "nothing"})
    assert (done.stdout, done.returncode) == ("", 2)
    assert f"{variable}='nothing'" in done.stderr


def test_exit_codes(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    def code(text: str, *options: str) -> int:
        (tmp_path / "program.cpp").write_text(text)
        return acl_emu("run", *options, tmp_path / "program.cpp", **warm_cache).returncode

    assert code("int main() { return undeclared; }") == 85
    assert code("int main() { aclnnNoSuchGetWorkspaceSize(); }") == 84
    assert code("int main() { return 9; }") == 9
    assert code("#include <cstdlib>\nint main() { std::abort(); }") == 128 + signal.SIGABRT
    assert code("int main() {}", "--cxx", "no-such-compiler") == 2


def test_a_program_that_does_not_compile_does_not_stop_the_others(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "page.md").write_text('```cpp\nint main() { x }\n```\n```cpp\n#include <cstdio>\nint main() { std::puts("ran"); }\n```\n')
    done = acl_emu("run", tmp_path / "page.md", **warm_cache)
    assert (done.stdout, done.returncode) == ("ran\n", 85)


# Why a call failed

FAILS = """import sys
import numpy as np, acl_emu as acl, aclnnop
acl.aclInit(None)
acl.aclrtSetDevice(0)
tensor = acl.aclCreateTensor([4], acl.ACL_{dtype}, None, 0, acl.ACL_FORMAT_ND, [4], None)
size, executor, ret = aclnnop.{operator}GetWorkspaceSize({arguments})
acl.aclDestroyTensor(tensor)
acl.aclrtResetDevice(0)
acl.aclFinalize()
{more}
sys.exit(ret % 256 if len(sys.argv) < 2 else int(sys.argv[1]))
"""


def failing(folder: Path, operator: str, arguments: str, dtype: str = "FLOAT", more: str = "") -> Path:
    (folder / "fails.py").write_text(FAILS.format(operator=operator, arguments=arguments, dtype=dtype, more=more))
    return folder / "fails.py"


def test_the_text_of_a_call_that_failed_is_printed_once(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    program = failing(tmp_path, "aclnnExp", "tensor, None")
    done = acl_emu("run", program, **warm_cache)
    assert done.stderr == (
        "acl-emu: aclnnExpGetWorkspaceSize returned 161001 (ACLNN_ERR_PARAM_NULLPTR): "
        "aclnnExp: out must not be a null pointer (expected aclTensor*)\n"
    )
    assert acl_emu("run", program, "--", "0", **warm_cache).stderr == ""  # it ended well


def test_not_where_the_program_asked_itself(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    assert acl_emu("run", failing(tmp_path, "aclnnExp", "tensor, None", more="acl.aclGetRecentErrMsg()"), **warm_cache).stderr == ""


def test_chips_that_have_an_operator_are_named(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    program = failing(tmp_path, "aclnnSmoothL1LossBackward", "tensor, tensor, tensor, 0, 1.0, tensor")
    said = acl_emu("run", "--soc", "310B", program, **warm_cache).stderr
    assert "returned 561103" in said
    assert "aclnnSmoothL1LossBackward has no kernel for Ascend310B1" in said
    assert "with --soc it runs on Ascend910B1, Ascend910B2" in said
    assert "Ascend310B4" not in said


def test_a_c_program_that_fails(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "p.cpp").write_text('#include "acl/acl.h"\nint main() { aclInit(nullptr); return aclrtSetDevice(99) != 0; }\n')
    said = acl_emu("run", tmp_path / "p.cpp", **warm_cache).stderr.splitlines()[-1]
    assert said == "acl-emu: aclrtSetDevice returned 107001 (ACL_ERROR_RT_INVALID_DEVICEID): deviceId is 99, expected a value in [0, 8)"


def test_nothing_is_noted_without_the_command(tmp_path: Path) -> None:
    code = "from acl_emu.core import notes; print(notes.wanted())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
