"""Streams: order, schedules, waiting, time-outs, destroying, faults of kernels, and many threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.core import handles
from acl_emu.runtime import context
from tests.conftest import PATIENCE, message, used_bytes
from tests.runtime.support import (
    NO_HANDLE,
    SmoothL1,
    allocate,
    bad_target,
    create_event,
    create_stream,
    download,
    held,
    in_thread,
    smooth_l1,
    status,
    upload,
)

only = {name: pytest.mark.parametrize("schedule", [name], indirect=True) for name in ("async", "lazy", "eager")}
not_eager = pytest.mark.parametrize("schedule", ["async", "lazy"], indirect=True)


# Making


def test_priorities_and_flags(device: int) -> None:
    for priority, expected in ((0, 0), (7, 7), (8, 7), (1000, 7)):
        stream, ret = acl.aclrtCreateStreamWithConfig(priority, acl.ACL_STREAM_FAST_LAUNCH | acl.ACL_STREAM_FAST_SYNC)
        assert ret == 0
        assert acl.aclrtStreamGetPriority(stream) == (expected, 0)
        assert acl.aclrtStreamGetFlags(stream) == (3, 0)
        assert acl.aclrtDestroyStream(stream) == 0


def test_plain_stream_has_the_highest_priority(device: int) -> None:
    stream = create_stream()
    assert acl.aclrtStreamGetPriority(stream) == (0, 0)
    assert acl.aclrtStreamGetFlags(stream) == (0, 0)
    assert acl.aclrtDestroyStream(stream) == 0


def test_streams_have_numbers_of_their_own(device: int) -> None:
    streams = [create_stream() for _ in range(3)]
    assert len({acl.aclrtStreamGetId(stream) for stream in streams}) == 3
    for stream in streams:
        assert acl.aclrtDestroyStream(stream) == 0


def test_most_streams(device: int) -> None:
    available, ret = acl.aclrtGetStreamAvailableNum()
    assert ret == 0
    assert available == 1984 - 1  # the default stream is one of them
    streams = [create_stream() for _ in range(available)]
    assert acl.aclrtCreateStream() == (None, acl.ACL_ERROR_RT_NO_STREAM_RESOURCE)
    assert acl.ACL_ERROR_RT_NO_STREAM_RESOURCE == 207008
    assert "1984" in message()
    assert acl.aclrtGetStreamAvailableNum() == (0, 0)
    for stream in streams:
        assert acl.aclrtDestroyStream(stream) == 0


# Order


@pytest.mark.parametrize("null", [False, True])
def test_tasks_run_in_order(schedule: str, device: int, null: bool) -> None:
    stream = None if null else create_stream()
    seen: list[int] = []
    for number in range(50):
        assert acl.aclrtLaunchHostFunc(stream, seen.append, number) == 0
    assert acl.aclrtSynchronizeStream(stream) == 0
    assert seen == list(range(50))
    if stream:
        assert acl.aclrtDestroyStream(stream) == 0


def test_null_is_the_default_stream(schedule: str, device: int) -> None:
    default, _ = acl.aclrtCtxGetCurrentDefaultStream()
    seen: list[int] = []
    assert acl.aclrtLaunchHostFunc(None, seen.append, 1) == 0
    assert acl.aclrtLaunchHostFunc(default, seen.append, 2) == 0
    assert acl.aclrtSynchronizeStream(default) == 0
    assert seen == [1, 2]


def test_null_stream_everywhere(schedule: str, device: int) -> None:
    pinned, _ = acl.aclrtMallocHost(16)
    event = create_event()
    with smooth_l1() as call:
        assert call.run(None) == 0
        assert acl.aclrtMemcpyAsync(pinned, 16, call.memory[3], 16, acl.ACL_MEMCPY_DEVICE_TO_HOST, None) == 0
        assert acl.aclrtMemsetAsync(call.memory[0], 16, 0, 16, None) == 0
        assert acl.aclrtRecordEvent(event, None) == 0
        assert acl.aclrtStreamWaitEvent(None, event) == 0
        assert acl.aclrtSynchronizeDevice() == 0
        assert np.array_equal(acl.host_array(pinned or 0, (4,), np.float32), call.expected)
    assert acl.aclrtDestroyEvent(event) == 0
    assert acl.aclrtFreeHost(pinned) == 0


@not_eager
def test_synchronous_calls_do_not_wait_for_streams(schedule: str, device: int) -> None:
    memory = upload(np.zeros(4, np.float32))
    with held(None):
        assert acl.aclrtMemset(memory, 16, 0, 16) == 0
        assert acl.aclrtMemcpy(memory, 16, np.ones(4, np.float32), 16, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
        assert download(memory, 4).tolist() == [1, 1, 1, 1]
    assert acl.aclrtFree(memory) == 0


@only["async"]
def test_streams_do_not_wait_for_each_other(schedule: str, device: int) -> None:
    stream = create_stream()
    with held(None), smooth_l1() as call:
        assert call.run(stream) == 0
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert np.array_equal(call.out, call.expected)
    assert acl.aclrtDestroyStream(stream) == 0


# Schedules


@only["async"]
def test_async_runs_in_the_background(schedule: str, device: int) -> None:
    ran, threads = threading.Event(), []

    def note(_: object) -> None:
        threads.append(threading.get_ident())
        ran.set()

    assert acl.aclrtLaunchHostFunc(None, note, None) == 0
    assert ran.wait(PATIENCE)
    assert threads != [threading.get_ident()]


@only["async"]
def test_async_launch_returns_before_the_kernel_has_run(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        with held(None):
            assert call.run(None) == 0
            assert (call.out == -7).all()
            assert acl.aclrtStreamQuery(None) == (acl.ACL_STREAM_STATUS_NOT_READY, 0)
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)
        assert acl.aclrtStreamQuery(None) == (acl.ACL_STREAM_STATUS_COMPLETE, 0)


@only["lazy"]
def test_lazy_runs_nothing_until_someone_waits(schedule: str, device: int) -> None:
    stream = create_stream()
    with smooth_l1() as call:
        assert call.run(stream) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert (call.out == -7).all()
        assert not any(thread.name.startswith(f"acl-emu stream {stream:#x}") for thread in threading.enumerate())
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert np.array_equal(call.out, call.expected)
    assert acl.aclrtDestroyStream(stream) == 0


@only["lazy"]
@pytest.mark.parametrize("poll", ["stream", "event", "event status", "wait status"])
def test_lazy_makes_progress_for_a_program_that_polls(schedule: str, device: int, poll: str) -> None:
    stream, event, seen = create_stream(), create_event(), list[int]()
    for number in range(3):
        assert acl.aclrtLaunchHostFunc(None, seen.append, number) == 0
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtStreamWaitEvent(stream, event) == 0
    question: Callable[[], tuple[int, int]]
    question, done = {
        "stream": (lambda: acl.aclrtStreamQuery(None), acl.ACL_STREAM_STATUS_COMPLETE),
        "event": (lambda: acl.aclrtQueryEvent(event), acl.ACL_EVENT_STATUS_COMPLETE),
        "event status": (lambda: acl.aclrtQueryEventStatus(event), acl.ACL_EVENT_RECORDED_STATUS_COMPLETE),
        "wait status": (lambda: acl.aclrtQueryEventWaitStatus(event), acl.ACL_EVENT_WAIT_STATUS_COMPLETE),
    }[poll]
    assert seen == []
    for _ in range(10):
        if question() == (done, 0):
            break
    assert seen == [0, 1, 2]
    assert question() == (done, 0)
    assert acl.aclrtDestroyStream(stream) == 0
    assert acl.aclrtDestroyEvent(event) == 0


@only["lazy"]
def test_lazy_runs_for_a_wait_with_time_out(schedule: str, device: int) -> None:
    seen: list[int] = []
    assert acl.aclrtLaunchHostFunc(None, seen.append, 1) == 0
    assert acl.aclrtSynchronizeStreamWithTimeout(None, 900_000) == 0
    assert seen == [1]


@only["lazy"]
def test_lazy_wait_runs_what_it_depends_on_and_no_more(schedule: str, device: int) -> None:
    stream, event, seen = create_stream(), create_event(), list[str]()
    assert acl.aclrtLaunchHostFunc(None, seen.append, "before the event") == 0
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclrtLaunchHostFunc(None, seen.append, "after the event") == 0
    assert acl.aclrtStreamWaitEvent(stream, event) == 0
    assert acl.aclrtSynchronizeStream(stream) == 0
    assert seen == ["before the event"]
    assert acl.aclrtDestroyStream(stream) == 0
    assert acl.aclrtDestroyEvent(event) == 0


@only["eager"]
def test_eager_runs_inside_the_call(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        assert call.run(None) == 0
        assert np.array_equal(call.out, call.expected)
        assert acl.aclrtStreamQuery(None) == (acl.ACL_STREAM_STATUS_COMPLETE, 0)


@only["eager"]
def test_eager_keeps_a_fault_for_the_synchronize(schedule: str, device: int) -> None:
    with bad_target() as call:
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 507015


# Waiting


@pytest.mark.parametrize("timeout", [0, -2, -1000])
def test_time_out_that_means_nothing(device: int, timeout: int) -> None:
    assert acl.aclrtSynchronizeStreamWithTimeout(None, timeout) == acl.ACL_ERROR_RT_PARAM_INVALID == 107000
    assert f"timeout is {timeout}" in message()
    assert acl.aclrtSynchronizeDeviceWithTimeout(timeout) == 107000
    assert f"timeout is {timeout}" in message()


@pytest.mark.parametrize("timeout", [-1, 1, 900_000])
def test_time_out_on_an_idle_stream(schedule: str, device: int, timeout: int) -> None:
    assert acl.aclrtSynchronizeStreamWithTimeout(None, timeout) == 0
    assert acl.aclrtSynchronizeDeviceWithTimeout(timeout) == 0


@not_eager
def test_time_out(schedule: str, device: int) -> None:
    with held(None):
        assert acl.aclrtSynchronizeStreamWithTimeout(None, 1) == acl.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT == 507046
        assert "after 1 ms" in message()
        assert acl.aclrtSynchronizeDeviceWithTimeout(1) == 507046
        assert "device 0 was not done after 1 ms" in message()
    assert acl.aclrtSynchronizeStreamWithTimeout(None, -1) == 0


@pytest.mark.parametrize("flag", [acl.ACL_STREAM_PERSISTENT, acl.ACL_STREAM_DEVICE_USE_ONLY, acl.ACL_STREAM_CPU_SCHEDULE])
@only["async"]
def test_streams_that_the_device_drives(schedule: str, device: int, flag: int) -> None:
    stream, _ = acl.aclrtCreateStreamWithConfig(0, flag)
    with held(stream):
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert acl.aclrtSynchronizeStreamWithTimeout(stream, 1) == 0
        assert acl.aclrtStreamQuery(stream) == (acl.ACL_STREAM_STATUS_NOT_READY, 0)
    assert acl.aclrtDestroyStream(stream) == 0


@not_eager
def test_many_threads_wait_for_one_stream(schedule: str, device: int) -> None:
    seen, codes = list[int](), list[int]()

    def wait() -> None:
        acl.aclrtSetDevice(device)
        codes.append(acl.aclrtSynchronizeStream(stream))
        acl.aclrtResetDevice(device)

    stream = create_stream()
    threads = [threading.Thread(target=wait) for _ in range(4)]
    with held(stream):
        for number in range(20):
            assert acl.aclrtLaunchHostFunc(stream, seen.append, number) == 0
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 4
    assert seen == list(range(20))
    assert acl.aclrtDestroyStream(stream) == 0


@not_eager
def test_two_threads_on_streams_that_wait_for_each_other(schedule: str, device: int) -> None:
    """Each stream waits for a point of the other that does not depend on it: whoever runs which, nobody may lock up."""
    streams = [create_stream(), create_stream()]
    events = [create_event() for _ in range(100)]
    gates = [held(stream) for stream in streams]
    for gate in gates:
        gate.__enter__()
    for number, event in enumerate(events):
        assert acl.aclrtRecordEvent(event, streams[number % 2]) == 0
        assert acl.aclrtStreamWaitEvent(streams[1 - number % 2], event) == 0
    codes: list[int] = []

    def wait(stream: int) -> None:
        acl.aclrtSetDevice(device)
        codes.append(acl.aclrtSynchronizeStream(stream))
        acl.aclrtResetDevice(device)

    threads = [threading.Thread(target=wait, args=(stream,), daemon=True) for stream in streams]
    for thread in threads:
        thread.start()
    for gate in gates:
        gate.__exit__(None, None, None)
    for thread in threads:
        thread.join(PATIENCE)
    assert codes == [0, 0]
    for event in events:
        assert acl.aclrtDestroyEvent(event) == 0
    for stream in streams:
        assert acl.aclrtDestroyStream(stream) == 0


# Destroying


def test_destroy_waits(schedule: str, device: int) -> None:
    stream, seen = create_stream(), list[int]()
    for number in range(5):
        assert acl.aclrtLaunchHostFunc(stream, seen.append, number) == 0
    assert acl.aclrtDestroyStream(stream) == 0
    assert seen == [0, 1, 2, 3, 4]


@not_eager
def test_force_does_not_wait(schedule: str, device: int) -> None:
    stream, seen = create_stream(), list[int]()
    with held(stream):
        assert acl.aclrtLaunchHostFunc(stream, seen.append, 1) == 0
        assert acl.aclrtDestroyStreamForce(stream) == 0
    assert acl.aclrtSynchronizeDevice() == 0
    assert seen == []


@only["async"]
def test_force_frees_who_waits(schedule: str, device: int) -> None:
    """An event behind dropped work counts as reached, and a stream that waits for it goes on."""
    doomed, other, event, seen = create_stream(), create_stream(), create_event(), list[int]()
    with held(doomed):
        assert acl.aclrtRecordEvent(event, doomed) == 0
        assert acl.aclrtStreamWaitEvent(other, event) == 0
        assert acl.aclrtLaunchHostFunc(other, seen.append, 1) == 0
        assert acl.aclrtDestroyStreamForce(doomed) == 0
    assert acl.aclrtSynchronizeStream(other) == 0
    assert seen == [1]
    assert acl.aclrtSynchronizeEvent(event) == 0
    assert acl.aclrtDestroyEvent(event) == 0
    assert acl.aclrtDestroyStream(other) == 0


@pytest.mark.parametrize("function", [acl.aclrtDestroyStream, acl.aclrtDestroyStreamForce])
def test_default_stream_cannot_be_destroyed(device: int, function: Callable[[int | None], int]) -> None:
    default, _ = acl.aclrtCtxGetCurrentDefaultStream()
    assert function(None) == 100000
    assert "stream must not be a null pointer" in message()
    assert function(default) == 100000
    assert "default stream" in message()


_STREAM_CALLS: dict[str, Callable[[int], object]] = {
    "aclrtDestroyStream": acl.aclrtDestroyStream,
    "aclrtDestroyStreamForce": acl.aclrtDestroyStreamForce,
    "aclrtSynchronizeStream": acl.aclrtSynchronizeStream,
    "aclrtSynchronizeStreamWithTimeout": lambda stream: acl.aclrtSynchronizeStreamWithTimeout(stream, 5),
    "aclrtStreamQuery": acl.aclrtStreamQuery,
    "aclrtStreamGetId": acl.aclrtStreamGetId,
    "aclrtStreamGetFlags": acl.aclrtStreamGetFlags,
    "aclrtStreamGetPriority": acl.aclrtStreamGetPriority,
    "aclrtSetStreamFailureMode": lambda stream: acl.aclrtSetStreamFailureMode(stream, 0),
    "aclrtMemsetAsync": lambda stream: acl.aclrtMemsetAsync(8, 1, 0, 1, stream),
    "aclrtMemcpyAsync": lambda stream: acl.aclrtMemcpyAsync(8, 1, 9, 1, 1, stream),
    "aclrtLaunchHostFunc": lambda stream: acl.aclrtLaunchHostFunc(stream, print, None),
    "aclrtLaunchCallback": lambda stream: acl.aclrtLaunchCallback(print, None, 0, stream),
    "aclrtSubscribeReport": lambda stream: acl.aclrtSubscribeReport(1, stream),
    "aclrtUnSubscribeReport": lambda stream: acl.aclrtUnSubscribeReport(1, stream),
}


@pytest.mark.parametrize("name", _STREAM_CALLS)
def test_dead_or_foreign_stream(device: int, name: str) -> None:
    dead, event = create_stream(), create_event()
    assert acl.aclrtDestroyStream(dead) == 0
    for handle, what in ((dead, "destroyed"), (NO_HANDLE, "not a handle of this library"), (event, "a living aclrtEvent")):
        assert status(_STREAM_CALLS[name](handle)) == acl.ACL_ERROR_RT_INVALID_HANDLE == 107017
        text = message()
        assert what in text
        assert f"{handle:#x}" in text
    assert acl.aclrtDestroyEvent(event) == 0


def test_launch_on_a_dead_stream(device: int) -> None:
    dead = create_stream()
    assert acl.aclrtDestroyStream(dead) == 0
    with smooth_l1() as call:
        assert call.run(dead) == 361001
        assert "destroyed" in message()


# Faults


def test_fault_is_told_at_the_next_synchronize(schedule: str, device: int) -> None:
    stream = create_stream()
    with bad_target(bad=9) as bad, smooth_l1() as good:
        assert bad.run(stream) == 0
        assert good.run(stream) == 0
        assert acl.aclrtSynchronizeStream(stream) == acl.ACL_ERROR_RT_AICORE_EXCEPTION == 507015
        text = message()
        for part in ("aclnnCrossEntropyLossGrad", "target[1] is 9", "outside [0, 1]"):
            assert part in text
        assert (bad.out == -7).all()
        assert np.array_equal(good.out, good.expected)
        assert acl.aclrtSynchronizeStream(stream) == 0
    assert acl.aclrtDestroyStream(stream) == 0


@pytest.mark.parametrize(
    "synchronize",
    [
        lambda: acl.aclrtSynchronizeDevice(),
        lambda: acl.aclrtSynchronizeDeviceWithTimeout(-1),
        lambda: acl.aclrtSynchronizeDeviceWithTimeout(900_000),
        lambda: acl.aclrtSynchronizeStreamWithTimeout(None, -1),
        lambda: acl.aclrtSynchronizeStreamWithTimeout(None, 900_000),
    ],
)
def test_every_synchronize_tells_the_fault(schedule: str, device: int, synchronize: Callable[[], int]) -> None:
    with bad_target(bad=-1) as bad:
        assert bad.run(None) == 0
        assert synchronize() == 507015
        assert "is -1" in message()
        assert synchronize() == 0


def test_fault_leaves_other_streams_alone(schedule: str, device: int) -> None:
    first, second = create_stream(), create_stream()
    with bad_target() as bad, smooth_l1() as good:
        assert bad.run(first) == 0
        assert good.run(second) == 0
        assert acl.aclrtSynchronizeStream(second) == 0
        assert np.array_equal(good.out, good.expected)
        assert acl.aclrtSynchronizeStream(first) == 507015
    assert acl.aclrtDestroyStream(first) == 0
    assert acl.aclrtDestroyStream(second) == 0


def test_fault_belongs_to_the_thread_that_synchronizes(schedule: str, device: int) -> None:
    with bad_target() as bad:
        assert bad.run(None) == 0

        def other() -> tuple[int, str]:
            acl.aclrtSetDevice(device)
            code = acl.aclrtSynchronizeStream(None)
            text = message()
            acl.aclrtResetDevice(device)
            return code, text

        code, text = in_thread(other)
    assert code == 507015
    assert "target" in text
    assert message() == ""


def test_first_of_several_faults_is_told(schedule: str, device: int) -> None:
    with bad_target(bad=5) as first, bad_target(bad=6) as second:
        assert first.run(None) == 0
        assert second.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 507015
        text = message()
        assert "is 5" in text
        assert "is 6" not in text


def test_tensor_without_device_memory(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        acl.aclSetRawTensorAddr(call.tensors[1], 0x1000)
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 507015
        text = message()
        assert "aclnnSmoothL1LossBackward" in text
        assert "self" in text
        assert "0x1000 is not device memory" in text
        assert (call.out == -7).all()


def test_stop_mode(schedule: str, device: int) -> None:
    current, _ = acl.aclrtCreateContext(device)
    first, second = create_stream(), create_stream()
    assert acl.aclrtSetStreamFailureMode(first, acl.ACL_STOP_ON_FAILURE) == 0
    with bad_target() as bad, smooth_l1() as good:
        assert bad.run(first) == 0
        assert acl.aclrtSynchronizeStream(first) == 507015
        assert good.run(second) == 0
        assert acl.aclrtSynchronizeStream(second) == 507015
        assert acl.aclrtSynchronizeStream(first) == 507015
        assert (good.out == -7).all()
    assert acl.aclrtDestroyContext(current) == 0
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtSynchronizeDevice() == 0
    assert acl.aclrtResetDevice(device) == 0


def test_continue_mode_is_the_default_and_can_be_restored(schedule: str, device: int) -> None:
    stream = create_stream()
    assert acl.aclrtSetStreamFailureMode(stream, acl.ACL_STOP_ON_FAILURE) == 0
    assert acl.aclrtSetStreamFailureMode(stream, acl.ACL_CONTINUE_ON_FAILURE) == 0
    with bad_target() as bad, smooth_l1() as good:
        assert bad.run(stream) == 0
        assert good.run(stream) == 0
        assert acl.aclrtSynchronizeStream(stream) == 507015
        assert np.array_equal(good.out, good.expected)
    assert acl.aclrtDestroyStream(stream) == 0


def test_unknown_failure_mode(device: int) -> None:
    assert acl.aclrtSetStreamFailureMode(None, 2) == 107000
    assert "mode is 2" in message()


# Many at once


def test_many_threads_and_streams() -> None:
    """16 threads with 4 streams and 500 calls each, everything created and destroyed in between: same bits, nothing left."""
    threads_before, handles_before, bytes_before = set(threading.enumerate()), handles.census(), used_bytes()
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal((3, 8)).astype(np.float32) for _ in range(8)]
    expected: list[bytes] = []
    failures: list[str] = []
    start = threading.Barrier(16)

    def once(which: int, stream: int | None) -> SmoothL1:
        grad, x, y = (row.copy() for row in inputs[which])
        call = SmoothL1(grad, x, y)
        assert call.run(stream) == 0
        return call

    def work(seed: int) -> None:
        try:
            start.wait()
            assert acl.aclrtSetDevice(seed % 2) == 0
            streams = [create_stream() for _ in range(4)]
            for step in range(125):
                calls = [once((seed + step + i) % 8, stream) for i, stream in enumerate(streams)]
                if step % 3 == 0:
                    event = create_event()
                    assert acl.aclrtRecordEvent(event, streams[0]) == 0
                    assert acl.aclrtStreamWaitEvent(streams[1], event) == 0
                    assert acl.aclrtDestroyEvent(event) == 0
                for i, call in enumerate(calls):
                    assert acl.aclrtSynchronizeStream(streams[i]) == 0
                    assert call.out.tobytes() == expected[(seed + step + i) % 8]
                    call.close()
                if step % 5 == 0:
                    assert acl.aclrtDestroyStream(streams[step % 4]) == 0
                    streams[step % 4] = create_stream()
            for stream in streams:
                assert acl.aclrtDestroyStream(stream) == 0
            assert acl.aclrtResetDevice(seed % 2) == 0
        except BaseException as error:
            failures.append(f"{type(error).__name__}: {error}; {message()}")

    def reference() -> None:
        assert acl.aclrtSetDevice(0) == 0
        for which in range(8):
            call = once(which, None)
            assert acl.aclrtSynchronizeStream(None) == 0
            expected.append(call.out.tobytes())
            call.close()
        assert acl.aclrtResetDevice(0) == 0

    in_thread(reference)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(threading.enumerate()) <= threads_before
    assert handles.census() == handles_before
    assert used_bytes() == bytes_before
    assert all(found.references == 0 for found in context.devices()[:2])


def test_streams_come_and_go_while_others_wait(device: int) -> None:
    """Force-destroying a stream that another thread synchronizes ends that wait."""
    codes: list[int] = []

    def wait(stream: int, waiting: threading.Event) -> None:
        acl.aclrtSetDevice(device)
        waiting.set()
        codes.append(acl.aclrtSynchronizeStream(stream))
        acl.aclrtResetDevice(device)

    for _ in range(10):
        stream, waiting = create_stream(), threading.Event()
        memory = allocate(64)
        with held(stream):
            assert acl.aclrtMemsetAsync(memory, 64, 1, 64, stream) == 0
            thread = threading.Thread(target=wait, args=(stream, waiting))
            thread.start()
            waiting.wait()
            assert acl.aclrtDestroyStreamForce(stream) == 0
        thread.join()
        assert acl.aclrtFree(memory) == 0
    assert len(codes) == 10
    assert set(codes) <= {0, acl.ACL_ERROR_RT_INVALID_HANDLE}
