"""The log: what starts it, which levels it has, and the shape of its lines."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from acl_emu.core.observe import Place
from acl_emu.tools import log
from tests.cface.programs import clean_environment, compile_program, run
from tests.conftest import run_python

LINE = re.compile(
    r"\[(?P<level>DEBUG|INFO|WARNING|ERROR)\] (?P<module>[A-Z]+)\((?P<pid>\d+),(?P<program>[^)]+)\):"
    r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[(?P<file>[^:\]]+):(?P<line>\w+)\](?P<thread>\d+) (?P<function>\w+):(?P<text>.*)"
)

PROGRAM = """
import acl_emu as acl, aclnnop
acl.aclrtSetDevice(0)
address, _ = acl.aclrtMalloc(16, acl.ACL_MEM_MALLOC_HUGE_FIRST)
acl.aclrtMalloc(0, acl.ACL_MEM_MALLOC_HUGE_FIRST)
tensor = acl.aclCreateTensor((4,), acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, (4,), address)
aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, None)
_, executor, _ = aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, tensor)
aclnnop.aclnnMul(None, 0, executor, None)
acl.aclrtSynchronizeStream(None)
"""

ERRORS = [("ASCENDCL", "aclrtMalloc"), ("OP", "aclnnMulGetWorkspaceSize")]


def lines(text: str) -> list[re.Match[str]]:
    """Every line has the official shape."""
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    assert None not in found, text
    return [match for match in found if match is not None]


def told(**environment: str) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """What a program that prints nothing leaves on stdout and stderr."""
    done = run_python(PROGRAM, **environment)
    assert done.returncode == 0, done.stderr
    return lines(done.stdout), lines(done.stderr)


def test_nothing_by_default(tmp_path: Path) -> None:
    for environment in ({}, {"ASCEND_GLOBAL_LOG_LEVEL": "0"}, {"ASCEND_SLOG_PRINT_TO_STDOUT": "0"}, {"ACL_EMU_LOG": "0"}):
        assert told(HOME=str(tmp_path), **environment) == ([], [])
    assert list(tmp_path.iterdir()) == []


def test_errors_on_stdout_as_the_official_variable_asks() -> None:
    printed, other = told(ASCEND_SLOG_PRINT_TO_STDOUT="1")
    assert other == []
    assert [(line["module"], line["function"]) for line in printed] == ERRORS
    assert {line["level"] for line in printed} == {"ERROR"}
    assert printed[0]["text"] == "failed with 100000 (ACL_ERROR_INVALID_PARAM): size is 0, expected a positive number of bytes"
    assert printed[1]["text"].startswith("failed with 161001 (ACLNN_ERR_PARAM_NULLPTR): aclnnMul: out must not be a null pointer")


def test_the_newer_variable_wins() -> None:
    assert told(ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_LOG_PRINT_TO_STDOUT="0") == ([], [])
    assert len(told(ASCEND_SLOG_PRINT_TO_STDOUT="0", ASCEND_LOG_PRINT_TO_STDOUT="1")[0]) == 2


@pytest.mark.parametrize(
    ("level", "levels"), [("0", {"DEBUG", "INFO", "ERROR"}), ("1", {"INFO", "ERROR"}), ("2", {"ERROR"}), ("4", set()), ("x", {"ERROR"})]
)
def test_levels(level: str, levels: set[str]) -> None:
    printed, _ = told(ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL=level)
    assert {line["level"] for line in printed} == levels


def test_levels_of_single_modules() -> None:
    printed, _ = told(ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL="4", ASCEND_MODULE_LOG_LEVEL="OP=1:DRV=0:RUNTIME=9")
    assert {line["module"] for line in printed} == {"OP"}
    assert {line["level"] for line in printed} == {"INFO", "ERROR"}


def test_calls_are_info_and_arguments_debug() -> None:
    _, printed = told(ACL_EMU_LOG="debug")
    by_level = [(line["level"], line["function"], line["text"]) for line in printed]
    assert ("DEBUG", "aclrtMalloc", "start to execute aclrtMalloc, size = 16, policy = ACL_MEM_MALLOC_HUGE_FIRST") in by_level
    assert any(level == "INFO" and function == "aclrtMalloc" and re.match("done, result 0x", text) for level, function, text in by_level)
    assert any(level == "DEBUG" and "stream_id=0, task_id=1" in text for level, _, text in by_level)
    assert {line["pid"] for line in printed} == {printed[0]["thread"]}


def test_a_task_that_fails_is_an_error_of_the_runtime() -> None:
    _, printed = told(ACL_EMU_LOG="error", ACL_EMU_FAULT="aclnnMul:task=507015")
    assert [(line["module"], line["function"]) for line in printed] == [
        *ERRORS,
        ("RUNTIME", "task"),
        ("ASCENDCL", "aclrtSynchronizeStream"),
    ]
    assert "Task run failed, stream_id=0, task_id=1, 507015 (ACL_ERROR_RT_AICORE_EXCEPTION)" in printed[2]["text"]


def test_files(tmp_path: Path) -> None:
    own, official = tmp_path / "logs" / "own.log", tmp_path / "official"
    assert told(ACL_EMU_LOG=str(own)) == ([], [])
    count = len(lines(own.read_text()))
    assert {line["level"] for line in lines(own.read_text())} == {"INFO", "ERROR"}
    assert told(ACL_EMU_LOG=f"debug:{own}") == ([], [])
    assert len(lines(own.read_text())) > 2 * count
    assert told(ASCEND_PROCESS_LOG_PATH=str(official)) == ([], [])
    (file,) = (official / "debug" / "plog").iterdir()
    assert re.fullmatch(r"plog-\d+_\d{17}\.log", file.name)
    assert len(lines(file.read_text())) == 2
    assert len(told(ASCEND_PROCESS_LOG_PATH=str(official), ASCEND_SLOG_PRINT_TO_STDOUT="1")[0]) == 2
    assert len(list((official / "debug" / "plog").iterdir())) == 1


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run_python("import acl_emu\nprint(acl_emu.aclInit(None))", ACL_EMU_LOG=str(tmp_path / "file" / "log"))
    assert done.stdout == "500000\n"
    assert "cannot be written" in done.stderr


def test_settings() -> None:
    now = time.mktime((2024, 2, 21, 6, 8, 31, 0, 0, -1)) + 0.113
    assert log.settings({}) is None
    assert log.settings({"ACL_EMU_LOG": "1"}) == (2, log.INFO, {})
    assert log.settings({"ACL_EMU_LOG": "1", "ASCEND_GLOBAL_LOG_LEVEL": "0"}) == (2, log.DEBUG, {})
    assert log.settings({"ACL_EMU_LOG": "Warning", "ASCEND_GLOBAL_LOG_LEVEL": "0"}) == (2, log.WARNING, {})
    assert log.settings({"ACL_EMU_LOG": "a:b"}) == ("a:b", log.INFO, {})
    assert log.settings({"ACL_EMU_LOG": "error:b"}) == ("b", log.ERROR, {})
    assert log.settings({"ASCEND_PROCESS_LOG_PATH": "/x"}, now) == (
        f"/x/debug/plog/plog-{os.getpid()}_20240221060831113.log",
        log.ERROR,
        {},
    )


def test_places() -> None:
    assert log._spelled(Place(file="/a/b.py", line=3)) == "b.py:3"
    assert log._spelled(Place()) == "?:0"
    assert log._spelled(Place(address=1)) == "0x1:0"


C_PROGRAM = r"""
#include "acl/acl.h"
int main(void) {
    void *address = NULL;
    aclrtSetDevice(0);
    aclrtMalloc(NULL, 16, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtBinaryLoadFromData(NULL, 0, NULL, NULL);
    return aclrtMalloc(&address, 16, ACL_MEM_MALLOC_HUGE_FIRST);
}
"""


def test_a_c_program(tmp_path: Path) -> None:
    """Also calls that are refused before anything looks at them."""
    done = run(compile_program(tmp_path, C_PROGRAM), env=clean_environment(ACL_EMU_LOG="info"))
    assert (done.returncode, done.stdout) == (0, "")
    printed = lines(done.stderr)
    assert [(line["level"], line["function"]) for line in printed] == [
        ("INFO", "aclrtSetDevice"),
        ("ERROR", "aclrtMalloc"),
        ("ERROR", "aclrtBinaryLoadFromData"),
        ("INFO", "aclrtMalloc"),
    ]
    assert {line["program"] for line in printed} == {"program"}
    assert {line["file"] for line in printed} == {"program"}
    assert all(int(line["line"], 16) > 0 for line in printed)
    assert "devPtr must not be a null pointer" in printed[1]["text"]
    assert "207000" in printed[2]["text"]
