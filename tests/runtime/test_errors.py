"""What a program can learn about a failure: the recent error message and the last error code."""

from __future__ import annotations

import gc
import json
import os
import re
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.api.acl_rt import lifecycle
from acl_emu.core import errors, handles
from tests.conftest import message
from tests.runtime.support import bad_target, create_tensor, in_thread, smooth_l1


@pytest.fixture(autouse=True)
def empty_store() -> Iterator[None]:
    errors.take_recent(keep_previous=False)
    errors.last_code(clear=True)
    yield
    errors.take_recent(keep_previous=False)
    errors.last_code(clear=True)


# The recent message


def test_no_message(device: int) -> None:
    assert acl.aclGetRecentErrMsg() is None


def test_message_is_cleared(device: int) -> None:
    acl.aclrtFree(None)
    assert acl.aclGetRecentErrMsg() is not None
    assert acl.aclGetRecentErrMsg() is None


def test_without_a_context_the_text_comes_again() -> None:
    def ask() -> list[str | None]:
        acl.aclrtFree(None)
        return [acl.aclGetRecentErrMsg() for _ in range(3)]

    first, second, third = in_thread(ask)
    assert first is not None
    assert first == second == third


def test_success_leaves_the_message(device: int) -> None:
    acl.aclrtFree(None)
    assert acl.aclrtSynchronizeDevice() == 0
    assert "devPtr" in message()


_HEAD = r"\[PID: (\d+)\] \d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} (\w+)\((\w+)\): (.+)"


def test_shape_of_a_message(device: int) -> None:
    acl.aclrtFree(None)
    match = re.fullmatch(_HEAD + "\n", message())
    assert match is not None
    pid, title, code, text = match.groups()
    assert int(pid) == os.getpid()
    assert (title, code) == ("Invalid_Argument_Null_Pointer", "EH0008")
    assert text == "devPtr must not be a null pointer"


def test_several_failures(device: int) -> None:
    """The first user error heads the text; the others follow, newest first."""
    for timeout in (-2, -3, -4):
        acl.aclrtSynchronizeStreamWithTimeout(None, timeout)
    head, traceback, *rest = message().splitlines()
    assert "timeout is -2" in head
    assert traceback == "        TraceBack (most recent call last):"
    assert [re.search(r"timeout is (-\d)", line)[1] for line in rest] == ["-4", "-3"]  # type: ignore[index]
    assert all(line.startswith("        [PID: ") for line in rest)


def test_internal_error(device: int) -> None:
    acl.aclDestroyAclOpExecutor(0x1234)
    first, second = message().splitlines()
    assert first == "EZ9999: Internal error!"
    assert re.fullmatch(_HEAD, second)
    assert "AclNN_Inner_Error(EZ9999)" in second


def test_user_error_heads_before_an_internal_one(device: int) -> None:
    acl.aclDestroyAclOpExecutor(0x1234)
    acl.aclrtFree(None)
    head, *rest = message().splitlines()
    assert "EH0008" in head
    assert "EZ9999" in rest[-1]


def test_long_text_is_cut(device: int) -> None:
    assert acl.aclInit("x" * 5000) == 100003
    match = re.fullmatch(_HEAD + "\n", message())
    assert match is not None
    assert len(match[4]) == 1023


def test_store_is_bounded(device: int) -> None:
    for _ in range(1000):
        acl.aclrtFree(None)
    assert message().count("devPtr") <= 32


def test_messages_belong_to_their_thread(device: int) -> None:
    def other() -> str:
        acl.aclrtSetDevice(99)
        return message()

    assert "deviceId is 99" in in_thread(other)
    assert message() == ""


def test_one_message_for_the_process(device: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "process", lifecycle._Process())
    path = tmp_path / "acl.json"
    path.write_text(json.dumps({"err_msg_mode": "1"}), encoding="utf-8")
    try:
        assert acl.aclInit(str(path)) == 0
        in_thread(lambda: acl.aclrtSetDevice(99))
        assert "deviceId is 99" in message()
        assert acl.aclFinalize() == 0
    finally:
        errors.use_process_store(False)


@pytest.mark.parametrize(
    ("code", "tag", "title"),
    [(161001, "EZ1001", "AclNN_Parameter_Error"), (361001, "EZ9903", "AclNN_Runtime_Error"), (561000, "EZ9999", "AclNN_Inner_Error")],
)
def test_operator_codes_have_their_titles(device: int, code: int, tag: str, title: str) -> None:
    with smooth_l1() as call:
        if code == 361001:
            assert call.run(0x1234) == code
        elif code == 161001:
            assert acl.aclGetViewShape(None)[1] == code
        else:
            assert acl.aclDestroyAclOpExecutor(0x1234) == code
        assert f"{title}({tag})" in message()


def test_message_of_a_kernel_fault(schedule: str, device: int) -> None:
    with bad_target() as call:
        assert call.run(None) == 0
        assert acl.aclGetRecentErrMsg() is None
        assert acl.aclrtSynchronizeStream(None) == 507015
        assert message().startswith("EZ9999: Internal error!\n")


def test_exception_of_the_numpy_call_carries_the_message(device: int) -> None:
    ones = np.ones(4, np.float32)
    with pytest.raises(acl.AclCallError, match=r"GetWorkspaceSize returned 161002: .*beta") as caught:
        acl.call("aclnnSmoothL1LossBackward", ones, ones, ones, 0, -1.0, ones.copy())
    assert caught.value.code == 161002


# The last error

LEVEL = acl.ACL_RT_THREAD_LEVEL


def test_last_error_is_cleared_by_get_only(device: int) -> None:
    assert acl.aclrtPeekAtLastError(LEVEL) == 0
    acl.aclrtSetDevice(99)
    assert acl.aclrtPeekAtLastError(LEVEL) == 107001
    assert acl.aclrtPeekAtLastError(LEVEL) == 107001
    assert acl.aclrtGetLastError(LEVEL) == 107001
    assert acl.aclrtGetLastError(LEVEL) == 0
    assert acl.aclrtPeekAtLastError(LEVEL) == 0


def test_success_keeps_the_last_error(device: int) -> None:
    acl.aclrtSetDevice(99)
    assert acl.aclrtSynchronizeDevice() == 0
    assert acl.aclrtGetLastError(LEVEL) == 107001


def test_last_error_is_the_newest(device: int) -> None:
    acl.aclrtSetDevice(99)
    acl.aclrtSynchronizeStreamWithTimeout(None, 0)
    assert acl.aclrtGetLastError(LEVEL) == 107000


def test_last_error_belongs_to_its_thread(device: int) -> None:
    assert in_thread(lambda: (acl.aclrtSetDevice(99), acl.aclrtGetLastError(LEVEL))) == (107001, 107001)
    assert acl.aclrtGetLastError(LEVEL) == 0


def test_only_runtime_codes_are_kept(device: int) -> None:
    acl.aclrtFree(None)
    acl.aclGetViewShape(None)
    assert acl.aclrtGetLastError(LEVEL) == 0


def test_kernel_fault_is_a_last_error(schedule: str, device: int) -> None:
    with bad_target() as call:
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 507015
        assert acl.aclrtGetLastError(LEVEL) == 507015


@pytest.mark.parametrize("level", [-1, 1])
def test_unknown_level(device: int, level: int) -> None:
    assert acl.aclrtGetLastError(level) == 100000
    assert f"level is {level}" in message()
    assert acl.aclrtPeekAtLastError(level) == 100000


# Handles in messages


def test_negative_and_huge_handles_are_refused(device: int) -> None:
    for handle in (-1, 1 << 80):
        assert acl.aclrtSynchronizeStream(handle) == 107017
        assert acl.aclDestroyTensor(handle) == 161002
        assert acl.aclrtFree(handle) == 107000
        assert acl.aclrtSetCurrentContext(handle) == 107002


def test_handles_are_never_given_out_twice() -> None:
    seen = set()
    for _ in range(100):
        tensor = create_tensor((1,), None)
        seen.add(tensor)
        assert acl.aclDestroyTensor(tensor) == 0
    assert len(seen) == 100


class _Large:
    """What a function that fails was working on."""


def test_a_kept_error_keeps_nothing_else() -> None:
    """Of the newest errors the texts are kept: what was on the stack when they were raised may be large."""
    seen: list[weakref.ref[_Large]] = []

    def fail(_data: object = None) -> None:
        large = _Large()
        seen.append(weakref.ref(large))
        try:
            raise errors.DeviceFault("inside")
        except errors.DeviceFault:
            raise errors.DeviceFault("outside") from None

    def call() -> None:
        try:
            fail()
        except errors.DeviceFault as error:
            errors.report(error)

    call()
    assert acl.aclrtSetDevice(0) == 0
    stream, status = acl.aclrtCreateStream()
    assert status == 0
    assert stream is not None
    handles.alive[stream].submit(fail)
    handles.alive[stream].run_until(1)
    gc.collect()
    assert [reference() for reference in seen] == [None, None]
    assert acl.aclrtSynchronizeStream(stream) == acl.ACL_ERROR_RT_AICORE_EXCEPTION
    assert "outside" in message()
    assert acl.aclrtDestroyStream(stream) == 0
    assert acl.aclrtResetDevice(0) == 0
