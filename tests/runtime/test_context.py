"""Contexts: one per thread, explicit ones, dead ones, and what belongs to them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import acl_emu as acl
from tests.conftest import message
from tests.runtime.support import NO_HANDLE, allocate, create_event, create_stream, held, in_thread, smooth_l1, status


def test_create_makes_it_current(device: int) -> None:
    context, ret = acl.aclrtCreateContext(2)
    assert ret == 0
    assert acl.aclrtGetCurrentContext() == (context, 0)
    assert acl.aclrtGetDevice() == (2, 0)
    assert acl.aclrtDestroyContext(context) == 0


def test_each_context_has_its_own_default_stream(device: int) -> None:
    first, _ = acl.aclrtCtxGetCurrentDefaultStream()
    context, _ = acl.aclrtCreateContext(device)
    second, ret = acl.aclrtCtxGetCurrentDefaultStream()
    assert ret == 0
    assert second not in (None, first)
    assert acl.aclrtDestroyContext(context) == 0


def test_set_current_switches_the_device(device: int) -> None:
    primary, _ = acl.aclrtGetCurrentContext()
    context, _ = acl.aclrtCreateContext(3)
    assert acl.aclrtSetCurrentContext(primary) == 0
    assert acl.aclrtGetDevice() == (0, 0)
    assert acl.aclrtSetCurrentContext(context) == 0
    assert acl.aclrtGetDevice() == (3, 0)
    assert acl.aclrtDestroyContext(context) == 0


def test_thread_binds_a_context_made_elsewhere(device: int) -> None:
    context, _ = acl.aclrtCreateContext(4)

    def other() -> tuple[int, int, int, int]:
        before = acl.aclrtGetDevice()[1]
        bound = acl.aclrtSetCurrentContext(context)
        return before, bound, *acl.aclrtGetDevice()

    assert in_thread(other) == (107002, 0, 4, 0)
    assert acl.aclrtDestroyContext(context) == 0


def test_destroying_the_current_context_leaves_none(device: int) -> None:
    context, _ = acl.aclrtCreateContext(device)
    assert acl.aclrtDestroyContext(context) == 0
    assert acl.aclrtGetCurrentContext() == (None, 107002)
    assert acl.aclrtGetDevice() == (0, 107002)
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtGetDevice() == (device, 0)
    assert acl.aclrtResetDevice(device) == 0


def test_destroying_a_context_finishes_its_work(device: int, schedule: str) -> None:
    context, _ = acl.aclrtCreateContext(device)
    stream = create_stream()
    seen: list[int] = []
    assert acl.aclrtLaunchHostFunc(stream, seen.append, 1) == 0
    assert acl.aclrtDestroyContext(context) == 0
    assert seen == [1]
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtSynchronizeStream(stream) == acl.ACL_ERROR_RT_INVALID_HANDLE
    assert acl.aclrtResetDevice(device) == 0


def test_destroyed_elsewhere(device: int) -> None:
    context, _ = acl.aclrtCreateContext(device)
    assert in_thread(lambda: acl.aclrtDestroyContext(context)) == 0
    assert acl.aclrtGetDevice() == (0, 107002)
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtResetDevice(device) == 0


def test_destroyed_by_two_threads_at_once(device: int) -> None:
    context, _ = acl.aclrtCreateContext(device)
    codes: list[int] = []
    with held(None) as gate:
        first = threading.Thread(target=lambda: codes.append(acl.aclrtDestroyContext(context)))
        first.start()
        while acl.aclrtGetCurrentContext()[1] == 0:  # until the other thread has begun
            time.sleep(0.001)
        assert acl.aclrtSetCurrentContext(context) == 107002
        assert acl.aclrtDestroyContext(context) == 507007
        assert "another thread" in message()
        gate.set()
        first.join()
    assert codes == [0]
    assert acl.aclrtDestroyContext(context) == 107002
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtResetDevice(device) == 0


def test_null_context() -> None:
    assert acl.aclrtSetCurrentContext(None) == 100000
    assert "context must not be a null pointer" in message()
    assert acl.aclrtDestroyContext(None) == 100000


def test_primary_context_cannot_be_destroyed(device: int) -> None:
    primary, _ = acl.aclrtGetCurrentContext()
    assert acl.aclrtDestroyContext(primary) == 107002
    text = message()
    assert "EE1017" in text
    assert "aclrtResetDevice" in text


@pytest.mark.parametrize("function", [acl.aclrtSetCurrentContext, acl.aclrtDestroyContext])
def test_dead_or_foreign_context(device: int, function: Callable[[int | None], int]) -> None:
    context, _ = acl.aclrtCreateContext(device)
    assert acl.aclrtDestroyContext(context) == 0
    stream = None
    assert acl.aclrtSetDevice(device) == 0
    stream = create_stream()
    for handle, what in ((context, "destroyed"), (NO_HANDLE, "not a handle of this library"), (stream, "a living aclrtStream")):
        assert function(handle) == 107002
        text = message()
        assert "EE1017" in text
        assert what in text
    assert acl.aclrtDestroyStream(stream) == 0
    assert acl.aclrtResetDevice(device) == 0


# A stream of another context

_FOREIGN: dict[str, Callable[[int, int, int], object]] = {
    "aclrtRecordEvent": lambda stream, event, _: acl.aclrtRecordEvent(event, stream),
    "aclrtStreamWaitEvent": lambda stream, event, _: acl.aclrtStreamWaitEvent(stream, event),
    "aclrtResetEvent": lambda stream, event, _: acl.aclrtResetEvent(event, stream),
    "aclrtDestroyStream": lambda stream, *_: acl.aclrtDestroyStream(stream),
    "aclrtDestroyStreamForce": lambda stream, *_: acl.aclrtDestroyStreamForce(stream),
    "aclrtMemcpyAsync": lambda stream, _, memory: acl.aclrtMemcpyAsync(memory, 8, np.zeros(8, np.uint8), 8, 1, stream),
    "aclrtMemcpy2dAsync": lambda stream, _, memory: acl.aclrtMemcpy2dAsync(memory, 8, np.zeros(8, np.uint8), 8, 8, 1, 1, stream),
    "aclrtMemsetAsync": lambda stream, _, memory: acl.aclrtMemsetAsync(memory, 8, 0, 8, stream),
    "aclrtLaunchHostFunc": lambda stream, *_: acl.aclrtLaunchHostFunc(stream, print, None),
    "aclrtSubscribeReport": lambda stream, *_: acl.aclrtSubscribeReport(1, stream),
    "aclrtLaunchCallback": lambda stream, *_: acl.aclrtLaunchCallback(print, None, 0, stream),
    "aclrtSetStreamFailureMode": lambda stream, *_: acl.aclrtSetStreamFailureMode(stream, 0),
    "aclrtStreamQuery": lambda stream, *_: acl.aclrtStreamQuery(stream),
}


@pytest.mark.parametrize("name", _FOREIGN)
def test_stream_of_another_context(device: int, name: str) -> None:
    primary, _ = acl.aclrtGetCurrentContext()
    context, _ = acl.aclrtCreateContext(device)
    stream = create_stream()
    assert acl.aclrtSetCurrentContext(primary) == 0
    event, memory = create_event(), allocate(8)
    assert status(_FOREIGN[name](stream, event, memory)) == acl.ACL_ERROR_RT_STREAM_CONTEXT == 107003
    text = message()
    assert "EE1010" in text
    assert f"{stream:#x}" in text
    assert acl.aclrtDestroyEvent(event) == 0
    assert acl.aclrtFree(memory) == 0
    assert acl.aclrtDestroyContext(context) == 0


def test_launch_on_a_stream_of_another_context(device: int) -> None:
    primary, _ = acl.aclrtGetCurrentContext()
    context, _ = acl.aclrtCreateContext(device)
    stream = create_stream()
    assert acl.aclrtSetCurrentContext(primary) == 0
    with smooth_l1() as call:
        assert call.run(stream) == 361001
        assert "107003" in message()
    assert acl.aclrtDestroyContext(context) == 0


@pytest.mark.parametrize("timeout", [None, -1, 900_000])
def test_synchronize_accepts_a_stream_of_another_context(device: int, timeout: int | None) -> None:
    primary, _ = acl.aclrtGetCurrentContext()
    context, _ = acl.aclrtCreateContext(1)
    stream = create_stream()
    seen: list[int] = []
    assert acl.aclrtLaunchHostFunc(stream, seen.append, 1) == 0
    assert acl.aclrtSetCurrentContext(primary) == 0
    synchronized = acl.aclrtSynchronizeStream(stream) if timeout is None else acl.aclrtSynchronizeStreamWithTimeout(stream, timeout)
    assert synchronized == 0
    assert seen == [1]
    assert acl.aclrtGetDevice() == (0, 0)
    assert acl.aclrtDestroyContext(context) == 0
