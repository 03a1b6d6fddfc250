"""The checker from Python, from the environment and from the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checker.running import parse
from tests.conftest import PATIENCE, ROOT

SEED = ROOT.parent / "shared" / "seeds" / "aclnnFusedLinearCrossEntropyLossGrad.md"

BODY = """
import sys
import numpy as np
import acl_emu as acl
acl.aclInit(None)
acl.aclrtSetDevice(0)
memory, _ = acl.aclrtMalloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST)  # BORN
host = np.zeros(32, np.float32)
acl.aclrtMemcpy(memory, 64, host, 64, acl.ACL_MEMCPY_HOST_TO_DEVICE)
acl.aclrtMemcpy(host, 128, memory, 128, acl.ACL_MEMCPY_DEVICE_TO_HOST)  # BUG
acl.aclrtFree(memory)
acl.aclrtResetDevice(0)
acl.aclFinalize()
sys.stdout.write("not flushed")
sys.exit(3)
"""


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_"))}
    return {**kept, **variables}


def run_text(folder: Path, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-W", "error", "program.py"]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=folder, env=environment(**variables))


@pytest.mark.parametrize(("value", "code"), [("1", 86), ("warn", 3)])
def test_a_program_in_python(value: str, code: int, tmp_path: Path) -> None:
    done = run_text(tmp_path, BODY, ACL_EMU_CHECK=value)
    lines = BODY.splitlines()
    born, bug = (next(i for i, line in enumerate(lines, 1) if line.endswith(mark)) for mark in ("# BORN", "# BUG"))
    (entry,) = parse(done.stderr)
    assert entry[:4] == ("out-of-bounds", "aclrtMemcpy", "src", f"program.py:{bug}")
    assert entry.lines[-1] == f"allocated by aclrtMalloc at program.py:{born}"
    assert (done.returncode, done.stdout) == (code, "not flushed")


@pytest.mark.parametrize("value", ["", "0"])
def test_off(value: str, tmp_path: Path) -> None:
    done = run_text(tmp_path, BODY + "\n", ACL_EMU_CHECK=value)
    assert (done.returncode, done.stdout, done.stderr) == (3, "not flushed", "")


def test_a_value_that_means_nothing(tmp_path: Path) -> None:
    done = run_text(tmp_path, "import acl_emu\nprint(acl_emu.aclInit(None) != 0)\n", ACL_EMU_CHECK="yes")
    assert "ACL_EMU_CHECK='yes'" in done.stderr
    assert done.stdout == "True\n"


def test_the_checker_is_not_loaded_unless_it_is_asked_for(tmp_path: Path) -> None:
    text = "import sys, acl_emu\nacl_emu.aclInit(None)\nprint([m for m in sys.modules if m.startswith('acl_emu.tools.checker')])\n"
    assert run_text(tmp_path, text).stdout == "[]\n"


def test_the_context_manager(tmp_path: Path) -> None:
    text = """
import acl_emu as acl
from acl_emu.tools.checker import check
acl.aclInit(None)
acl.aclrtSetDevice(0)
with check() as findings:
    memory, _ = acl.aclrtMalloc(64, 0)
    acl.aclrtFree(memory)
print(findings.kinds)
with check() as findings:
    acl.aclrtMalloc(64, 0)
print(findings.kinds, len(findings), "program.py:11" in str(findings))
"""
    done = run_text(tmp_path, text)
    assert (done.stdout, done.stderr) == ("[]\n['memory-leaked'] 1 True\n", "")


def test_an_operator_that_works_in_blocks_may_not_write_its_input(tmp_path: Path) -> None:
    """A kernel over blocks has read only some of its input when it writes; one over all elements has read everything."""
    text = """
from acl_emu.tools.checker.checker import Checker
from acl_emu.tools.checker.findings import Findings
from acl_emu.tools.checker.memory_rules import MemoryRules
from acl_emu.tools.checker.order import Order
from acl_emu.core.observe import Span, Work
for in_place in (True, False):
    findings = Findings()
    rules = MemoryRules(findings, Order())
    work = Work("kernel", "aclnnX", (Span.flat("self", 4096, 64),), (Span.flat("out", 4096, 64),))
    work.stream, work.place = "stream", 1
    rules.queue(work, in_place)
    print("overlap" in findings.kinds)
"""
    assert run_text(tmp_path, text).stdout == "False\nTrue\n"


THROUGH_A_LIBRARY = """
import ctypes, os
import acl_emu.torch
acl = ctypes.CDLL(os.environ["ASCEND_HOME_PATH"] + "/lib64/libascendcl.so")
acl.aclInit(None)
acl.aclrtSetDevice(0)
memory = ctypes.c_void_p()
acl.aclrtMalloc(ctypes.byref(memory), ctypes.c_size_t(64), 0)  # BORN
acl.aclrtResetDevice(0)
acl.aclFinalize()
"""


def test_a_library_that_python_calls(tmp_path: Path) -> None:
    """The line of the program says more than an address in the library."""
    line = next(i for i, text in enumerate(THROUGH_A_LIBRARY.splitlines(), 1) if text.endswith("# BORN"))
    (entry,) = parse(run_text(tmp_path, THROUGH_A_LIBRARY, ACL_EMU_CHECK="1", PYTHONPATH=str(ROOT)).stderr)
    assert entry[:4] == ("memory-leaked", "aclrtMalloc", "-", f"program.py:{line}")


def test_an_update_in_place(tmp_path: Path) -> None:
    text = """
import acl_emu as acl
from aclnnop import aclnnAmpUpdateScale, aclnnAmpUpdateScaleGetWorkspaceSize
with acl.check() as findings:
    acl.aclInit(None)
    acl.aclrtSetDevice(0)
    address, _ = acl.aclrtMalloc(1536, 0)
    acl.aclrtMemset(address, 1536, 0, 1536)
    made = [acl.aclCreateTensor([1], dtype, None, 0, acl.ACL_FORMAT_ND, [1], address + place) for dtype, place in
            ((acl.ACL_FLOAT, 0), (acl.ACL_INT32, 512), (acl.ACL_FLOAT, 1024))]
    scale, tracker, found = made
    size, executor, _ = aclnnAmpUpdateScaleGetWorkspaceSize(scale, tracker, found, 2.0, 0.5, 5, scale, tracker)
    print(size, aclnnAmpUpdateScale(None, 0, executor, None))
    acl.aclrtSynchronizeDevice()
    for tensor in made:
        acl.aclDestroyTensor(tensor)
    acl.aclrtFree(address)
    acl.aclrtResetDevice(0)
    acl.aclFinalize()
print(findings.kinds)
"""
    assert run_text(tmp_path, text).stdout == "0 0\n[]\n"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "acl_emu.cli", "run", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, env=environment())


def test_the_command(tmp_path: Path) -> None:
    source = tmp_path / "tiny.c"
    source.write_text(
        '#include <stdio.h>\n#include "acl/acl.h"\nint main(void) {\n    aclInit(NULL);\n    printf("not flushed");\n    return 3;\n}\n',
        encoding="utf-8",
    )
    found = command("--check", str(source))
    (entry,) = parse(found.stderr)
    assert entry[:4] == ("call-order", "aclInit", "-", f"main ({source}:4)")
    assert found.stdout == "not flushed"
    assert [found.returncode, command("--check=warn", str(source)).returncode, command(str(source)).returncode] == [86, 3, 3]
    assert command("--check=maybe", str(source)).returncode == 2


def test_without_lines_the_function_is_named(tmp_path: Path) -> None:
    source = tmp_path / "tiny.c"
    source.write_text('#include "acl/acl.h"\nint main(void) { aclInit(NULL); return 3; }\n', encoding="utf-8")
    env = {**environment(ACL_EMU_CHECK="1")}
    line = [sys.executable, "-m", "acl_emu.cli", "run", str(source)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, env=env)
    (entry,) = parse(done.stderr)
    assert entry.place.startswith("main+0x")
    assert entry.place.endswith(" in tiny")


@pytest.mark.skipif(not SEED.exists(), reason="no operator page at hand")
def test_the_over_read_of_a_page() -> None:
    done = command("--check", str(SEED))
    (entry,) = parse(done.stderr)
    assert entry[:3] == ("out-of-bounds", "aclrtMemcpy", "src")
    assert entry.place.startswith("main (")
    assert done.returncode == 86
