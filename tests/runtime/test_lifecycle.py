"""aclInit, aclFinalize and their counts, the aclInit configuration, aclnnInit, process and context options, version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import acl_emu as acl
from acl_emu.api.acl_rt import lifecycle
from acl_emu.core import errors
from acl_emu.runtime import context
from tests.conftest import message, run_python
from tests.runtime.support import in_thread


@pytest.fixture(autouse=True)
def untouched_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that has not called aclInit, and is put back afterwards."""
    monkeypatch.setattr(lifecycle, "process", lifecycle._Process())
    monkeypatch.setattr(context, "default_device", None)
    yield
    errors.use_process_store(False)


@pytest.fixture
def configuration(tmp_path: Path) -> Callable[[Any], str]:
    """``configuration({...})`` writes an aclInit configuration and gives its path."""

    def write(content: Any) -> str:
        path = tmp_path / "acl.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize("path", [None, ""])
def test_init_without_a_configuration(path: str | None) -> None:
    assert acl.aclInit(path) == acl.ACL_SUCCESS
    assert acl.aclFinalize() == acl.ACL_SUCCESS


def test_second_init_says_so_but_counts() -> None:
    assert acl.aclInit(None) == 0
    assert acl.aclInit(None) == acl.ACL_ERROR_REPEAT_INITIALIZE == 100002
    assert "count is now 2" in message()
    assert acl.aclFinalizeReference() == (1, 0)
    assert acl.aclFinalizeReference() == (0, 0)


def test_finalize_ends_all_inits_at_once() -> None:
    acl.aclInit(None)
    acl.aclInit(None)
    assert acl.aclFinalize() == 0
    assert acl.aclFinalize() == acl.ACL_ERROR_REPEAT_FINALIZE == 100037
    assert "aclFinalize" in message()


def test_finalize_without_any_init_succeeds_once() -> None:
    assert acl.aclFinalize() == 0
    assert acl.aclFinalize() == 100037


def test_init_after_finalize() -> None:
    assert [acl.aclInit(None), acl.aclFinalize(), acl.aclInit(None), acl.aclFinalize()] == [0, 0, 0, 0]


def test_finalize_reference_below_zero() -> None:
    assert acl.aclFinalizeReference() == (0, 100037)
    acl.aclInit(None)
    assert acl.aclFinalizeReference() == (0, 0)
    assert acl.aclFinalizeReference() == (0, 100037)


def test_last_reference_counts_as_finalize() -> None:
    acl.aclInit(None)
    acl.aclFinalizeReference()
    assert acl.aclFinalize() == 100037


def test_finalize_leaves_devices_alone(device: int) -> None:
    acl.aclInit(None)
    assert acl.aclFinalize() == 0
    assert acl.aclrtGetDevice() == (device, 0)


def test_runtime_works_without_init() -> None:
    program = """
import acl_emu as acl
assert acl.aclrtSetDevice(0) == 0
pointer, ret = acl.aclrtMalloc(64, 0)
assert ret == 0 and acl.aclrtFree(pointer) == 0
stream, ret = acl.aclrtCreateStream()
assert ret == 0 and acl.aclrtDestroyStream(stream) == 0
assert acl.aclrtResetDevice(0) == 0
print("fine")
"""
    assert run_python(program).stdout == "fine\n"


def test_another_configuration_after_finalize(configuration: Callable[[Any], str]) -> None:
    assert acl.aclInit(configuration({"err_msg_mode": "0"})) == 0
    assert acl.aclFinalize() == 0
    assert acl.aclInit(configuration({"err_msg_mode": "1"})) == acl.ACL_ERROR_INVALID_PARAM == 100000
    assert "configPath" in message()
    assert acl.aclInit(configuration({"err_msg_mode": "0"})) == 0


@pytest.mark.parametrize("text", ["{}", "", '{"dump": {}, "profiler": {}, "max_opqueue_num": "10"}'])
def test_configurations_that_change_nothing(configuration: Callable[[Any], str], text: str) -> None:
    assert acl.aclInit(configuration(text)) == 0


def test_missing_configuration_file(tmp_path: Path) -> None:
    assert acl.aclInit(str(tmp_path / "none.json")) == acl.ACL_ERROR_INVALID_FILE == 100003
    assert "none.json" in message()


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"a": }', f'{{"a": {"1" * 5000}}}'])
def test_configuration_that_does_not_parse(configuration: Callable[[Any], str], text: str) -> None:
    assert acl.aclInit(configuration(text)) == acl.ACL_ERROR_PARSE_FILE == 100006
    assert "acl.json" in message()


@pytest.mark.parametrize("bracket", ["{", "["])
def test_nesting_of_the_configuration(configuration: Callable[[Any], str], bracket: str) -> None:
    def nested(depth: int) -> str:
        inner = "1"
        for _ in range(depth):
            inner = f'{{"a": {inner}}}' if bracket == "{" else f"[{inner}]"
        return inner if bracket == "{" else f'{{"a": {inner}}}'

    assert acl.aclInit(configuration(nested(11))) == 100006
    assert "nested 11 deep" in message()
    assert acl.aclInit(configuration(nested(10))) == 0


def test_failed_init_does_not_count(configuration: Callable[[Any], str]) -> None:
    assert acl.aclInit(configuration("{")) == 100006
    assert acl.aclFinalizeReference() == (0, 100037)


def test_default_device_binds_a_thread_without_a_context(configuration: Callable[[Any], str]) -> None:
    assert acl.aclInit(configuration({"defaultDevice": {"default_device": "3"}})) == 0
    assert in_thread(acl.aclrtGetDevice) == (3, 0)
    assert acl.aclrtResetDeviceForce(3) == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("99", acl.ACL_ERROR_RT_INVALID_DEVICEID),
        ("x", acl.ACL_ERROR_PARSE_FILE),
        ([1], acl.ACL_ERROR_PARSE_FILE),
        (float("inf"), acl.ACL_ERROR_PARSE_FILE),
    ],
)
def test_default_device_that_does_not_exist(configuration: Callable[[Any], str], value: Any, expected: int) -> None:
    assert acl.aclInit(configuration({"defaultDevice": {"default_device": value}})) == expected
    assert str(value) in message()


def test_aclnn_init_mixes_with_acl_init() -> None:
    assert [acl.aclnnInit(None), acl.aclInit(None), acl.aclnnInit(None)] == [0, 0, 0]
    assert [acl.aclnnFinalize(), acl.aclnnFinalize(), acl.aclFinalize()] == [0, 0, 0]


def test_version() -> None:
    assert acl.aclrtGetVersion() == (acl.ACL_MAJOR_VERSION, acl.ACL_MINOR_VERSION, acl.ACL_PATCH_VERSION, 0)


# System options


@pytest.mark.parametrize("option", range(4))
def test_process_option(option: int) -> None:
    assert acl.aclrtGetSysParamOpt(option) == (0, 0)
    assert acl.aclrtSetSysParamOpt(option, 3) == 0
    assert acl.aclrtGetSysParamOpt(option) == (3, 0)
    assert in_thread(lambda: acl.aclrtGetSysParamOpt(option)) == (3, 0)


@pytest.mark.parametrize("option", range(3))
def test_context_option(device: int, option: int) -> None:
    assert acl.aclrtCtxGetSysParamOpt(option) == (0, acl.ACL_ERROR_RT_SYSPARAMOPT_NOT_SET)
    assert acl.ACL_ERROR_RT_SYSPARAMOPT_NOT_SET == 107021
    assert acl.aclrtCtxSetSysParamOpt(option, 1) == 0
    assert acl.aclrtCtxGetSysParamOpt(option) == (1, 0)
    assert acl.aclrtGetSysParamOpt(option) == (0, 0)


def test_context_option_belongs_to_its_context(device: int) -> None:
    acl.aclrtCtxSetSysParamOpt(0, 1)
    other, _ = acl.aclrtCreateContext(0)
    assert acl.aclrtCtxGetSysParamOpt(0) == (0, 107021)
    assert acl.aclrtDestroyContext(other) == 0
    assert acl.aclrtSetDevice(0) == 0
    assert acl.aclrtCtxGetSysParamOpt(0) == (1, 0)
    assert acl.aclrtResetDevice(0) == 0


@pytest.mark.parametrize("option", [-1, 4])
def test_unknown_process_option(option: int) -> None:
    assert acl.aclrtSetSysParamOpt(option, 1) == 100000
    assert f"opt is {option}" in message()
    assert acl.aclrtGetSysParamOpt(option) == (0, 100000)


@pytest.mark.parametrize("option", [-1, 3])
def test_unknown_context_option(device: int, option: int) -> None:
    assert acl.aclrtCtxSetSysParamOpt(option, 1) == 100000
    assert acl.aclrtCtxGetSysParamOpt(option) == (0, 100000)
