"""Findings however a program ends, in every form, and in every process of a test run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checker.running import parse
from tests.command import acl_emu

LEAKS = r"""
#include <csignal>
#include <cstdlib>
#include <unistd.h>
#include "acl/acl.h"
int main(int, char** argv) {
    float host[32];
    void* memory;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);  // BORN
    aclrtMemset(memory, 64, 0, 64);
    aclrtMemcpy(host, 128, memory, 128, ACL_MEMCPY_DEVICE_TO_HOST);  // BUG
    switch (std::atoi(argv[1])) {
        case 0: return 0;
        case 1: _exit(0);
        case SIGSEGV: *static_cast<volatile int*>(nullptr) = 1;  // fall through
        default: std::raise(std::atoi(argv[1]));
    }
}
"""
BORN, BUG = (next(i for i, line in enumerate(LEAKS.split("\n"), 1) if line.endswith(mark)) for mark in ("// BORN", "// BUG"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "leaks.cpp").write_text(LEAKS)
    return tmp_path / "leaks.cpp"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT, signal.SIGTERM])
def test_a_signal(source: Path, warm_cache: dict[str, str], number: signal.Signals) -> None:
    done = acl_emu("run", "--check", source, "--", str(int(number)), cwd=source.parent, **warm_cache)
    (entry,) = parse(done.stderr)
    assert entry[:4] == ("out-of-bounds", "aclrtMemcpy", "src", f"main (leaks.cpp:{BUG})")
    assert entry.lines[-1] == f"allocated by aclrtMalloc at main (leaks.cpp:{BORN})"
    assert done.returncode == 128 + number


@pytest.mark.parametrize(("check", "code"), [("--check", 86), ("--check=warn", 0)])
def test_an_end_without_goodbye(source: Path, warm_cache: dict[str, str], check: str, code: int) -> None:
    done = acl_emu("run", check, source, "--", "1", cwd=source.parent, **warm_cache)
    assert [entry.kind for entry in parse(done.stderr)] == ["out-of-bounds"]
    assert done.returncode == code


def test_findings_are_printed_once(source: Path, warm_cache: dict[str, str]) -> None:
    done = acl_emu("run", "--check", source, "--", "0", cwd=source.parent, **warm_cache)
    assert [entry.kind for entry in parse(done.stderr)] == ["out-of-bounds", "memory-leaked", "call-order", "call-order"]
    assert done.stderr.count("acl-emu check: 4 findings") == 1


@pytest.mark.parametrize("end", ["0", "11"])
@pytest.mark.parametrize("mode", ["json", "warn,json"])
def test_as_json(source: Path, warm_cache: dict[str, str], end: str, mode: str) -> None:
    file = source.parent / "found.json"
    done = acl_emu("run", f"--check={mode}:{file.name}", source, "--", end, cwd=source.parent, **warm_cache)
    first, *rest = json.loads(file.read_text())["findings"]
    assert (first["kind"], first["call"], first["parameter"], first["count"]) == ("out-of-bounds", "aclrtMemcpy", "src", 1)
    assert (first["file"], first["line"], first["place"]) == ("leaks.cpp", BUG, f"main (leaks.cpp:{BUG})")
    assert "64 too many" in first["text"]
    assert first["advice"]
    (related,) = first["related"]
    assert (related["role"], related["line"]) == ("allocated by aclrtMalloc", BORN)
    assert len(rest) == (3 if end == "0" else 0)
    assert len(parse(done.stderr)) == 1 + len(rest)
    assert done.returncode == (128 + 11 if end == "11" else 0 if mode.startswith("warn") else 86)


def test_as_json_where_nothing_is_found(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "p.py").write_text("import acl_emu\nacl_emu.aclInit(None)\nacl_emu.aclFinalize()\n")
    for file in ("found.json", "p.py"):
        if file == "p.py":
            (tmp_path / "p.py").write_text("print('no call')\n")
        done = acl_emu("run", "--check=json:found.json", "p.py", cwd=tmp_path, **warm_cache)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads((tmp_path / "found.json").read_text()) == {"findings": []}


@pytest.mark.parametrize("value", ["json:", "json", "yes", "1,", "warn,1", "1json:x"])
def test_what_means_nothing(source: Path, warm_cache: dict[str, str], value: str) -> None:
    done = acl_emu("run", f"--check={value}", source, **warm_cache)
    assert done.returncode == 2
    assert "means nothing" in done.stderr


def test_json_without_the_command(tmp_path: Path) -> None:
    program = "import os, acl_emu\nacl_emu.aclInit(None)\nprint(os.getpid())\n"
    env = {**os.environ, "ACL_EMU_CHECK": "json:found-%p.json"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=env)
    assert done.returncode == 86
    found = json.loads((tmp_path / f"found-{done.stdout.strip()}.json").read_text())["findings"]
    assert [finding["kind"] for finding in found] == ["call-order"]


TESTS = """
import acl_emu as acl

def test_leaks():
    acl.aclInit(None)
    acl.aclrtSetDevice(0)
    memory, ret = acl.aclrtMalloc(64, 0)
    if not {leaks}:
        acl.aclrtFree(memory)
    acl.aclrtResetDevice(0)
    acl.aclFinalize()

def test_other():
    pass
"""


@pytest.mark.parametrize(
    ("options", "leaks", "check", "code"),
    [
        (("-n", "2"), True, "1", 86),
        (("-n", "2"), False, "1", 0),
        (("-n", "2"), True, "warn", 0),
        (("-n", "2"), True, "0", 0),
        (("-p", "no:xdist"), True, "1", 86),
    ],
    ids=str,
)
def test_workers_of_pytest(tmp_path: Path, options: tuple[str, ...], leaks: bool, check: str, code: int) -> None:
    (tmp_path / "test_it.py").write_text(TESTS.format(leaks=leaks))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "PYTEST_", "_ACL_EMU"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_it.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**env, "ACL_EMU_CHECK": check})
    assert "2 passed" in done.stdout
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr.count("memory-leaked: ") == (leaks and check != "0")
