"""Events of both kinds: recording, waiting, asking, timing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import acl_emu as acl
from tests.conftest import message
from tests.runtime.support import NO_HANDLE, create_event, create_stream, held, smooth_l1, status

only_async = pytest.mark.parametrize("schedule", ["async"], indirect=True)
TIMING, SYNC = acl.ACL_EVENT_TIME_LINE, acl.ACL_EVENT_SYNC


def with_flag(flag: int) -> int:
    event, ret = acl.aclrtCreateEventWithFlag(flag)
    assert ret == 0
    assert event is not None
    return event


def extended(flag: int = SYNC) -> int:
    event, ret = acl.aclrtCreateEventExWithFlag(flag)
    assert ret == 0
    assert event is not None
    return event


def destroy(*events: int) -> None:
    for event in events:
        assert acl.aclrtDestroyEvent(event) == 0


# Never recorded


@pytest.mark.parametrize("make", [create_event, extended])
def test_synchronize_unrecorded(device: int, make: Callable[[], int]) -> None:
    event = make()
    assert acl.aclrtSynchronizeEvent(event) == 0
    assert acl.aclrtSynchronizeEventWithTimeout(event, 1) == 0
    destroy(event)


@pytest.mark.parametrize(
    ("make", "expected"),
    [(create_event, acl.ACL_EVENT_RECORDED_STATUS_NOT_READY), (extended, acl.ACL_EVENT_RECORDED_STATUS_COMPLETE)],
)
def test_status_unrecorded(device: int, make: Callable[[], int], expected: int) -> None:
    event = make()
    assert acl.aclrtQueryEventStatus(event) == (expected, 0)
    destroy(event)


def test_old_query_unrecorded(device: int) -> None:
    event = create_event()
    assert acl.aclrtQueryEvent(event) == (acl.ACL_EVENT_STATUS_COMPLETE, 0)
    assert acl.aclrtQueryEventWaitStatus(event) == (acl.ACL_EVENT_WAIT_STATUS_COMPLETE, 0)
    destroy(event)


def test_wait_for_unrecorded(device: int) -> None:
    default, new = create_event(), extended()
    assert acl.aclrtStreamWaitEvent(None, new) == 0
    assert acl.aclrtStreamWaitEvent(None, default) == 107000
    text = message()
    assert "EE1018" in text
    assert "aclrtRecordEvent" in text
    destroy(default, new)


@pytest.mark.parametrize("recorded", ["neither", "start", "end"])
def test_time_unrecorded(schedule: str, device: int, recorded: str) -> None:
    start, end = create_event(), create_event()
    if recorded != "neither":
        assert acl.aclrtRecordEvent({"start": start, "end": end}[recorded], None) == 0
    assert acl.aclrtEventElapsedTime(start, end) == (0, acl.ACL_ERROR_RT_INTERNAL_ERROR)
    assert acl.ACL_ERROR_RT_INTERNAL_ERROR == 507000
    assert "never recorded" in message()
    assert acl.aclrtEventGetTimestamp(end if recorded == "start" else start) == (0, 507000)
    destroy(start, end)


# Recording and waiting


def test_record_and_query(schedule: str, device: int) -> None:
    event = create_event()
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtSynchronizeEvent(event) == 0
    assert acl.aclrtQueryEventStatus(event) == (acl.ACL_EVENT_RECORDED_STATUS_COMPLETE, 0)
    assert acl.aclrtQueryEvent(event) == (acl.ACL_EVENT_STATUS_COMPLETE, 0)
    destroy(event)


@only_async
def test_pending_record(schedule: str, device: int) -> None:
    event = create_event()
    with held(None):
        assert acl.aclrtRecordEvent(event, None) == 0
        assert acl.aclrtQueryEventStatus(event) == (acl.ACL_EVENT_RECORDED_STATUS_NOT_READY, 0)
        assert acl.aclrtQueryEvent(event) == (acl.ACL_EVENT_STATUS_NOT_READY, 0)
        assert acl.aclrtEventGetTimestamp(event) == (0, 107006)
        assert acl.aclrtSynchronizeEventWithTimeout(event, 1) == acl.ACL_ERROR_RT_EVENT_SYNC_TIMEOUT == 507047
        assert "after 1 ms" in message()
    assert acl.aclrtSynchronizeEventWithTimeout(event, 900_000) == 0
    destroy(event)


@pytest.mark.parametrize("timeout", [0, -2])
def test_time_out_that_means_nothing(device: int, timeout: int) -> None:
    event = create_event()
    assert acl.aclrtSynchronizeEventWithTimeout(event, timeout) == 107000
    assert f"timeout is {timeout}" in message()
    destroy(event)


def test_wait_for_ever(schedule: str, device: int) -> None:
    event = create_event()
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtSynchronizeEventWithTimeout(event, -1) == 0
    destroy(event)


def test_stream_waits_for_event(schedule: str, device: int) -> None:
    first, second, event, seen = create_stream(), create_stream(), create_event(), list[str]()
    assert acl.aclrtLaunchHostFunc(first, seen.append, "first") == 0
    assert acl.aclrtRecordEvent(event, first) == 0
    assert acl.aclrtStreamWaitEvent(second, event) == 0
    assert acl.aclrtLaunchHostFunc(second, seen.append, "second") == 0
    assert acl.aclrtSynchronizeStream(second) == 0
    assert seen == ["first", "second"]
    destroy(event)
    assert acl.aclrtDestroyStream(first) == 0
    assert acl.aclrtDestroyStream(second) == 0


@only_async
def test_waiting_stream_is_held(schedule: str, device: int) -> None:
    stream, event = create_stream(), create_event()
    with smooth_l1() as call:
        with held(None):
            assert acl.aclrtRecordEvent(event, None) == 0
            assert acl.aclrtStreamWaitEvent(stream, event) == 0
            assert call.run(stream) == 0
            assert acl.aclrtSynchronizeStreamWithTimeout(stream, 5) == 507046
            assert (call.out == -7).all()
            assert acl.aclrtQueryEventWaitStatus(event) == (acl.ACL_EVENT_WAIT_STATUS_NOT_READY, 0)
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert np.array_equal(call.out, call.expected)
        assert acl.aclrtQueryEventWaitStatus(event) == (acl.ACL_EVENT_WAIT_STATUS_COMPLETE, 0)
    destroy(event)
    assert acl.aclrtDestroyStream(stream) == 0


def test_wait_in_the_recording_stream_is_nothing(schedule: str, device: int) -> None:
    event = create_event()
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtStreamWaitEvent(None, event) == 0
    assert acl.aclrtQueryEventWaitStatus(event) == (acl.ACL_EVENT_WAIT_STATUS_COMPLETE, 0)
    assert acl.aclrtSynchronizeStream(None) == 0
    destroy(event)


@only_async
def test_destroy_while_pending(schedule: str, device: int) -> None:
    stream, event, seen = create_stream(), create_event(), list[int]()
    with held(None):
        assert acl.aclrtRecordEvent(event, None) == 0
        assert acl.aclrtStreamWaitEvent(stream, event) == 0
        assert acl.aclrtLaunchHostFunc(stream, seen.append, 1) == 0
        destroy(event)
        assert seen == []
    assert acl.aclrtSynchronizeStream(stream) == 0
    assert seen == [1]
    assert acl.aclrtDestroyStream(stream) == 0


@only_async
def test_recording_again_replaces_the_point_but_not_earlier_waits(schedule: str, device: int) -> None:
    waiting, busy, event, seen = create_stream(), create_stream(), extended(), list[int]()
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtStreamWaitEvent(waiting, event) == 0
    with held(busy):
        assert acl.aclrtRecordEvent(event, busy) == 0
        assert acl.aclrtLaunchHostFunc(waiting, seen.append, 1) == 0
        assert acl.aclrtSynchronizeStream(waiting) == 0
        assert seen == [1]
        assert acl.aclrtQueryEventStatus(event) == (acl.ACL_EVENT_RECORDED_STATUS_NOT_READY, 0)
    assert acl.aclrtSynchronizeEvent(event) == 0
    assert acl.aclrtQueryEventStatus(event) == (acl.ACL_EVENT_RECORDED_STATUS_COMPLETE, 0)
    destroy(event)
    assert acl.aclrtDestroyStream(waiting) == 0
    assert acl.aclrtDestroyStream(busy) == 0


@pytest.mark.parametrize("make", [create_event, lambda: with_flag(SYNC)])
def test_reset(schedule: str, device: int, make: Callable[[], int]) -> None:
    event = make()
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtSynchronizeEvent(event) == 0
    assert acl.aclrtResetEvent(event, None) == 0
    assert acl.aclrtQueryEventStatus(event) == (acl.ACL_EVENT_RECORDED_STATUS_NOT_READY, 0)
    assert acl.aclrtStreamWaitEvent(None, event) == 107000
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtSynchronizeEvent(event) == 0
    destroy(event)


# Flags


@pytest.mark.parametrize("make", [acl.aclrtCreateEventWithFlag, acl.aclrtCreateEventExWithFlag])
@pytest.mark.parametrize("flag", [0, 4, 1 << 20])
def test_unknown_flag(device: int, make: Callable[[int], tuple[int | None, int]], flag: int) -> None:
    assert make(flag) == (None, 100000)
    assert f"flag is {flag:#x}" in message()


@pytest.mark.parametrize(
    "call", [lambda event: acl.aclrtStreamWaitEvent(None, event), lambda event: acl.aclrtResetEvent(event, None)], ids=["wait", "reset"]
)
def test_event_without_sync(schedule: str, device: int, call: Callable[[int], int]) -> None:
    event = with_flag(TIMING)
    assert acl.aclrtRecordEvent(event, None) == 0
    assert call(event) == acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT == 207000
    assert "ACL_EVENT_SYNC" in message()
    destroy(event)


def test_event_without_time_line(schedule: str, device: int) -> None:
    event = with_flag(SYNC)
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtSynchronizeEvent(event) == 0
    assert acl.aclrtEventGetTimestamp(event) == (0, acl.ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID)
    assert acl.ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID == 107006
    assert "ACL_EVENT_TIME_LINE" in message()
    assert acl.aclrtEventElapsedTime(event, event) == (0, 107006)
    destroy(event)


@pytest.mark.parametrize(
    "call",
    [lambda event: acl.aclrtResetEvent(event, None), acl.aclrtQueryEvent, acl.aclrtQueryEventWaitStatus],
    ids=["aclrtResetEvent", "aclrtQueryEvent", "aclrtQueryEventWaitStatus"],
)
def test_not_for_events_of_the_new_kind(device: int, call: Callable[[int], object]) -> None:
    event = extended(SYNC | TIMING)
    assert status(call(event)) == 207000
    assert "aclrtCreateEventExWithFlag" in message()
    destroy(event)


# Time


def test_elapsed_time(schedule: str, device: int) -> None:
    start, end = create_event(), create_event()
    assert acl.aclrtRecordEvent(start, None) == 0
    with smooth_l1() as call:
        assert call.run(None) == 0
        assert acl.aclrtRecordEvent(end, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
    forth, ret = acl.aclrtEventElapsedTime(start, end)
    assert ret == 0
    assert forth > 0
    assert acl.aclrtEventElapsedTime(end, start) == (-forth, 0)
    first, _ = acl.aclrtEventGetTimestamp(start)
    last, _ = acl.aclrtEventGetTimestamp(end)
    assert isinstance(first, int)
    assert abs((last - first) / 1000 - forth) < 0.002
    destroy(start, end)


@only_async
def test_elapsed_time_too_early(schedule: str, device: int) -> None:
    start, end = create_event(), create_event()
    assert acl.aclrtRecordEvent(start, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    with held(None):
        assert acl.aclrtRecordEvent(end, None) == 0
        assert acl.aclrtEventElapsedTime(start, end) == (0, 107006)
        assert "endEvent" in message()
    destroy(start, end)


# Null, dead, foreign

_EVENT_CALLS: dict[str, Callable[[int | None], object]] = {
    "aclrtDestroyEvent": acl.aclrtDestroyEvent,
    "aclrtRecordEvent": lambda event: acl.aclrtRecordEvent(event, None),
    "aclrtResetEvent": lambda event: acl.aclrtResetEvent(event, None),
    "aclrtStreamWaitEvent": lambda event: acl.aclrtStreamWaitEvent(None, event),
    "aclrtSynchronizeEvent": acl.aclrtSynchronizeEvent,
    "aclrtSynchronizeEventWithTimeout": lambda event: acl.aclrtSynchronizeEventWithTimeout(event, 5),
    "aclrtQueryEvent": acl.aclrtQueryEvent,
    "aclrtQueryEventStatus": acl.aclrtQueryEventStatus,
    "aclrtQueryEventWaitStatus": acl.aclrtQueryEventWaitStatus,
    "aclrtEventGetTimestamp": acl.aclrtEventGetTimestamp,
    "aclrtEventElapsedTime": lambda event: acl.aclrtEventElapsedTime(event, event),
}


@pytest.mark.parametrize("name", _EVENT_CALLS)
def test_null_event(device: int, name: str) -> None:
    assert status(_EVENT_CALLS[name](None)) == 100000
    assert "must not be a null pointer" in message()


@pytest.mark.parametrize("name", _EVENT_CALLS)
def test_dead_or_foreign_event(device: int, name: str) -> None:
    dead, stream = create_event(), create_stream()
    destroy(dead)
    for handle, what in ((dead, "destroyed"), (NO_HANDLE, "not a handle of this library"), (stream, "a living aclrtStream")):
        assert status(_EVENT_CALLS[name](handle)) == acl.ACL_ERROR_RT_INVALID_HANDLE == 107017
        text = message()
        assert what in text
        assert "EE1017" in text
    assert acl.aclrtDestroyStream(stream) == 0
