"""Devices: binding, reference counts, release, peers, attributes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import acl_emu as acl
from tests.conftest import message
from tests.runtime.support import NO_HANDLE, allocate, create_event, create_stream, held, in_thread, smooth_l1, status

FREE_DEVICE = 5
"""A device that the fixtures leave alone."""


def test_count_before_any_device_is_set() -> None:
    count, ret = in_thread(acl.aclrtGetDeviceCount)
    assert (count, ret) == (8, 0)


@pytest.mark.parametrize("index", [-1, 8, 1 << 20])
def test_no_such_device(index: int) -> None:
    assert acl.aclrtSetDevice(index) == acl.ACL_ERROR_RT_INVALID_DEVICEID == 107001
    assert f"deviceId is {index}, expected a value in [0, 8)" in message()
    assert acl.aclrtResetDevice(index) == 107001
    assert acl.aclrtResetDeviceForce(index) == 107001
    assert acl.aclrtCreateContext(index) == (None, 107001)
    assert acl.aclrtQueryDeviceStatus(index) == (0, 107001)
    assert acl.aclrtGetDeviceInfo(index, acl.ACL_DEV_ATTR_AICORE_CORE_NUM) == (0, 107001)
    assert acl.aclGetDeviceCapability(index, acl.ACL_DEVICE_INFO_AI_CORE_NUM) == (0, 107001)


def test_each_set_counts(device: int) -> None:
    assert acl.aclrtSetDevice(FREE_DEVICE) == 0
    assert acl.aclrtSetDevice(FREE_DEVICE) == 0
    assert acl.aclrtGetDevice() == (FREE_DEVICE, 0)
    assert acl.aclrtResetDevice(FREE_DEVICE) == 0
    assert acl.aclrtGetDevice() == (FREE_DEVICE, 0)
    assert acl.aclrtResetDevice(FREE_DEVICE) == 0
    assert acl.aclrtGetDevice() == (0, 107002)
    assert acl.aclrtResetDevice(FREE_DEVICE) == acl.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR == 507007
    assert "EE1018" in message()
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtResetDevice(device) == 0


def test_reset_of_a_device_that_was_never_set() -> None:
    assert acl.aclrtResetDevice(FREE_DEVICE) == 507007
    text = message()
    assert "EE1018" in text
    assert f"device {FREE_DEVICE} is not set" in text
    assert acl.aclrtResetDeviceForce(FREE_DEVICE) == 507007


def test_force_drops_all_references(device: int) -> None:
    for _ in range(3):
        assert acl.aclrtSetDevice(FREE_DEVICE) == 0
    assert acl.aclrtResetDeviceForce(FREE_DEVICE) == 0
    assert acl.aclrtResetDevice(FREE_DEVICE) == 507007


def test_threads_share_the_primary_context(device: int) -> None:
    here, _ = acl.aclrtGetCurrentContext()

    def other() -> int | None:
        assert acl.aclrtSetDevice(device) == 0
        context, ret = acl.aclrtGetCurrentContext()
        assert ret == 0
        assert acl.aclrtResetDevice(device) == 0
        return context

    assert in_thread(other) == here
    assert acl.aclrtGetDevice() == (device, 0)


def test_set_device_drops_an_explicit_context(device: int) -> None:
    primary, _ = acl.aclrtGetCurrentContext()
    explicit, _ = acl.aclrtCreateContext(device)
    assert acl.aclrtGetCurrentContext() == (explicit, 0)
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtGetCurrentContext() == (primary, 0)
    assert acl.aclrtResetDevice(device) == 0
    assert acl.aclrtDestroyContext(explicit) == 0


def test_last_reset_waits_and_destroys_streams(device: int, schedule: str) -> None:
    assert acl.aclrtSetDevice(FREE_DEVICE) == 0
    stream = create_stream()
    default, _ = acl.aclrtCtxGetCurrentDefaultStream()
    context, _ = acl.aclrtGetCurrentContext()
    seen: list[int] = []
    assert acl.aclrtLaunchHostFunc(stream, seen.append, 1) == 0
    assert acl.aclrtLaunchHostFunc(None, seen.append, 2) == 0
    assert acl.aclrtResetDevice(FREE_DEVICE) == 0
    assert sorted(seen) == [1, 2]
    assert acl.aclrtSetDevice(device) == 0
    for handle in (stream, default):
        assert acl.aclrtSynchronizeStream(handle) == acl.ACL_ERROR_RT_INVALID_HANDLE
        assert "a handle that was destroyed" in message()
    assert acl.aclrtSetCurrentContext(context) == 107002
    assert acl.aclrtResetDevice(device) == 0


def test_force_reset_does_not_wait(device: int) -> None:
    assert acl.aclrtSetDevice(FREE_DEVICE) == 0
    seen: list[int] = []
    stream = create_stream()
    with smooth_l1() as call:
        assert call.run(stream) == 0
    assert acl.aclrtResetDeviceForce(FREE_DEVICE) == 0
    assert seen == []
    assert acl.aclrtGetDevice() == (0, 107002)
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtResetDevice(device) == 0


def test_memory_survives_reset_and_is_freed_without_a_context() -> None:
    def program() -> list[int]:
        codes = [acl.aclrtSetDevice(FREE_DEVICE)]
        pointer = allocate(64)
        codes += [acl.aclrtResetDevice(FREE_DEVICE), acl.aclrtGetDevice()[1], acl.aclrtFree(pointer)]
        return codes

    assert in_thread(program) == [0, 0, 107002, 0]


def test_run_mode() -> None:
    assert acl.aclrtGetRunMode() == (acl.ACL_HOST, 0)
    assert acl.ACL_HOST == 1


@pytest.mark.parametrize("scheduler", [acl.ACL_TS_ID_AICORE, acl.ACL_TS_ID_AIVECTOR])
def test_task_scheduler(scheduler: int) -> None:
    assert acl.aclrtSetTsDevice(scheduler) == 0


def test_unknown_task_scheduler() -> None:
    assert acl.aclrtSetTsDevice(2) == 100000
    assert "tsId is 2" in message()


def test_device_status() -> None:
    assert acl.aclrtQueryDeviceStatus(0) == (acl.ACL_RT_DEVICE_STATUS_NORMAL, 0)


def test_priority_range(device: int) -> None:
    assert acl.aclrtDeviceGetStreamPriorityRange() == (7, 0, 0)


# Every call that needs a context, on a thread that has none

_BUFFER = bytearray(8)
_NEEDS_CONTEXT: dict[str, Callable[[dict[str, int]], object]] = {
    "aclrtGetDevice": lambda _: acl.aclrtGetDevice(),
    "aclrtSynchronizeDevice": lambda _: acl.aclrtSynchronizeDevice(),
    "aclrtSynchronizeDeviceWithTimeout": lambda _: acl.aclrtSynchronizeDeviceWithTimeout(-1),
    "aclrtGetCurrentContext": lambda _: acl.aclrtGetCurrentContext(),
    "aclrtCtxGetCurrentDefaultStream": lambda _: acl.aclrtCtxGetCurrentDefaultStream(),
    "aclrtCtxSetSysParamOpt": lambda _: acl.aclrtCtxSetSysParamOpt(0, 1),
    "aclrtCtxGetSysParamOpt": lambda _: acl.aclrtCtxGetSysParamOpt(0),
    "aclrtDeviceGetStreamPriorityRange": lambda _: acl.aclrtDeviceGetStreamPriorityRange(),
    "aclrtDeviceEnablePeerAccess": lambda _: acl.aclrtDeviceEnablePeerAccess(1, 0),
    "aclrtDeviceDisablePeerAccess": lambda _: acl.aclrtDeviceDisablePeerAccess(1),
    "aclrtSetDeviceSatMode": lambda _: acl.aclrtSetDeviceSatMode(1),
    "aclrtGetDeviceSatMode": lambda _: acl.aclrtGetDeviceSatMode(),
    "aclrtMalloc": lambda _: acl.aclrtMalloc(8, 0),
    "aclrtMallocAlign32": lambda _: acl.aclrtMallocAlign32(8, 0),
    "aclrtMallocCached": lambda _: acl.aclrtMallocCached(8, 0),
    "aclrtMallocHost": lambda _: acl.aclrtMallocHost(8),
    "aclrtGetMemInfo": lambda _: acl.aclrtGetMemInfo(acl.ACL_HBM_MEM),
    "aclrtMemcpy": lambda it: acl.aclrtMemcpy(it["memory"], 8, _BUFFER, 8, acl.ACL_MEMCPY_HOST_TO_DEVICE),
    "aclrtMemcpyAsync": lambda it: acl.aclrtMemcpyAsync(it["memory"], 8, _BUFFER, 8, acl.ACL_MEMCPY_HOST_TO_DEVICE, it["stream"]),
    "aclrtMemcpy2d": lambda it: acl.aclrtMemcpy2d(it["memory"], 4, _BUFFER, 4, 4, 2, acl.ACL_MEMCPY_HOST_TO_DEVICE),
    "aclrtMemcpy2dAsync": lambda it: acl.aclrtMemcpy2dAsync(it["memory"], 4, _BUFFER, 4, 4, 2, acl.ACL_MEMCPY_HOST_TO_DEVICE, None),
    "aclrtMemset": lambda it: acl.aclrtMemset(it["memory"], 8, 0, 8),
    "aclrtMemsetAsync": lambda it: acl.aclrtMemsetAsync(it["memory"], 8, 0, 8, it["stream"]),
    "aclrtCreateStream": lambda _: acl.aclrtCreateStream(),
    "aclrtCreateStreamWithConfig": lambda _: acl.aclrtCreateStreamWithConfig(0, 0),
    "aclrtDestroyStream": lambda it: acl.aclrtDestroyStream(it["stream"]),
    "aclrtDestroyStreamForce": lambda it: acl.aclrtDestroyStreamForce(it["stream"]),
    "aclrtSynchronizeStream": lambda it: acl.aclrtSynchronizeStream(it["stream"]),
    "aclrtSynchronizeStream of null": lambda _: acl.aclrtSynchronizeStream(None),
    "aclrtSynchronizeStreamWithTimeout": lambda it: acl.aclrtSynchronizeStreamWithTimeout(it["stream"], -1),
    "aclrtStreamQuery": lambda it: acl.aclrtStreamQuery(it["stream"]),
    "aclrtStreamGetPriority": lambda it: acl.aclrtStreamGetPriority(it["stream"]),
    "aclrtStreamGetFlags": lambda it: acl.aclrtStreamGetFlags(it["stream"]),
    "aclrtStreamGetId": lambda it: acl.aclrtStreamGetId(it["stream"]),
    "aclrtGetStreamAvailableNum": lambda _: acl.aclrtGetStreamAvailableNum(),
    "aclrtSetStreamFailureMode": lambda it: acl.aclrtSetStreamFailureMode(it["stream"], 1),
    "aclrtCreateEvent": lambda _: acl.aclrtCreateEvent(),
    "aclrtCreateEventWithFlag": lambda _: acl.aclrtCreateEventWithFlag(acl.ACL_EVENT_SYNC),
    "aclrtCreateEventExWithFlag": lambda _: acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC),
    "aclrtRecordEvent": lambda it: acl.aclrtRecordEvent(it["event"], it["stream"]),
    "aclrtResetEvent": lambda it: acl.aclrtResetEvent(it["event"], it["stream"]),
    "aclrtStreamWaitEvent": lambda it: acl.aclrtStreamWaitEvent(it["stream"], it["event"]),
    "aclrtSubscribeReport": lambda it: acl.aclrtSubscribeReport(1, it["stream"]),
    "aclrtUnSubscribeReport": lambda it: acl.aclrtUnSubscribeReport(1, it["stream"]),
    "aclrtLaunchCallback": lambda it: acl.aclrtLaunchCallback(print, None, 0, it["stream"]),
    "aclrtLaunchHostFunc": lambda it: acl.aclrtLaunchHostFunc(it["stream"], print, None),
}


@pytest.mark.parametrize("name", _NEEDS_CONTEXT)
def test_thread_without_a_device(device: int, name: str) -> None:
    it = {"memory": allocate(8), "stream": create_stream(), "event": create_event()}
    code, text = in_thread(lambda: (status(_NEEDS_CONTEXT[name](it)), message()))
    assert code == acl.ACL_ERROR_RT_CONTEXT_NULL == 107002
    assert "aclrtSetDevice or aclrtSetCurrentContext" in text
    assert acl.aclrtDestroyEvent(it["event"]) == 0
    assert acl.aclrtDestroyStream(it["stream"]) == 0
    assert acl.aclrtFree(it["memory"]) == 0


def test_launch_without_a_device(device: int) -> None:
    with smooth_l1() as call:
        code, text = in_thread(lambda: (call.run(None), message()))
        assert code == acl.ACLNN_ERR_RUNTIME_ERROR == 361001
        assert "107002" in text


# Peers


def test_peer_access(device: int) -> None:
    assert acl.aclrtDeviceCanAccessPeer(0, 1) == (1, 0)
    assert acl.aclrtDevicePeerAccessStatus(0, 1) == (0, 0)
    assert acl.aclrtDeviceEnablePeerAccess(1, 0) == 0
    assert acl.aclrtDevicePeerAccessStatus(0, 1) == (1, 0)
    assert acl.aclrtDevicePeerAccessStatus(1, 0) == (0, 0)
    assert acl.aclrtDeviceDisablePeerAccess(1) == 0
    assert acl.aclrtDevicePeerAccessStatus(0, 1) == (0, 0)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: acl.aclrtDeviceCanAccessPeer(0, 0), 100000),
        (lambda: acl.aclrtDeviceCanAccessPeer(99, 99), 100000),
        (lambda: acl.aclrtDeviceCanAccessPeer(0, 99), 107001),
        (lambda: acl.aclrtDeviceCanAccessPeer(-1, 0), 107001),
        (lambda: acl.aclrtDeviceEnablePeerAccess(1, 1), 200006),
        (lambda: acl.aclrtDeviceEnablePeerAccess(0, 0), 100000),
        (lambda: acl.aclrtDeviceEnablePeerAccess(99, 0), 107001),
        (lambda: acl.aclrtDeviceDisablePeerAccess(0), 100000),
        (lambda: acl.aclrtDevicePeerAccessStatus(0, 99), 107001),
    ],
)
def test_peer_misuse(device: int, call: Callable[[], object], code: int) -> None:
    assert status(call()) == code
    assert message()


# Overflow


@pytest.mark.parametrize(("name", "natural"), [("Ascend910B1", 1), ("Ascend910_9391", 1), ("Ascend950PR_9589", 1), ("Ascend910A", 0)])
def test_overflow_mode(device: int, chip: Callable[[str], None], name: str, natural: int) -> None:
    chip(name)
    assert acl.aclrtGetDeviceSatMode() == (natural, 0)
    assert acl.aclrtSetDeviceSatMode(natural) == 0
    assert acl.aclrtGetDeviceSatMode() == (natural, 0)
    assert acl.aclrtSetDeviceSatMode(1 - natural) == acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT
    assert name in message()
    assert acl.aclrtSetDeviceSatMode(2) == 100000
    from acl_emu.runtime import context

    context.devices()[device].overflow_mode = None


def test_synchronize_device_waits_for_every_context(device: int, schedule: str) -> None:
    seen: list[int] = []
    primary, _ = acl.aclrtGetCurrentContext()
    other, _ = acl.aclrtCreateContext(device)
    assert acl.aclrtLaunchHostFunc(None, seen.append, 1) == 0
    assert acl.aclrtSetCurrentContext(primary) == 0
    assert acl.aclrtSynchronizeDevice() == 0
    assert seen == [1]
    assert acl.aclrtDestroyContext(other) == 0


def test_device_pointer_is_not_a_device_number(device: int) -> None:
    assert acl.aclrtSetDevice(NO_HANDLE) == 107001
    with held(None):
        assert acl.aclrtGetDevice() == (device, 0)
