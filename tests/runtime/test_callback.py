"""Host callbacks: on a subscribed thread of the program (set A) and on a thread of the runtime (set B)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.api.acl_rt import callbacks
from tests.conftest import PATIENCE, message
from tests.runtime.support import create_event, create_stream, in_thread, smooth_l1, status, upload

BLOCK, NO_BLOCK = acl.ACL_CALLBACK_BLOCK, acl.ACL_CALLBACK_NO_BLOCK
only_async = pytest.mark.parametrize("schedule", ["async"], indirect=True)


class Reporter:
    """A thread that processes the reports of streams until it is told to stop."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self._stop = threading.Event()
        self._go = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        assert self._thread.ident is not None
        self.number = self._thread.ident

    def go(self) -> None:
        self._go.set()

    def _work(self) -> None:
        self._go.wait()
        while not self._stop.is_set():
            self.codes.append(acl.aclrtProcessReport(10))

    def close(self) -> None:
        self._stop.set()
        self._go.set()
        self._thread.join()


@contextmanager
def subscribed(*streams: int | None) -> Iterator[Reporter]:
    reporter = Reporter()
    for stream in streams:
        assert acl.aclrtSubscribeReport(reporter.number, stream) == 0
    reporter.go()
    try:
        yield reporter
    finally:
        for stream in streams:
            assert acl.aclrtUnSubscribeReport(reporter.number, stream) == 0
        reporter.close()


# Set A


@pytest.mark.parametrize("block", [BLOCK, NO_BLOCK])
def test_callback_runs_on_the_subscribed_thread(schedule: str, device: int, block: int) -> None:
    ran, where = threading.Event(), []

    def note(data: object) -> None:
        where.append((data, threading.get_ident()))
        ran.set()

    with subscribed(None) as reporter:
        assert acl.aclrtLaunchCallback(note, "data", block, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert ran.wait(PATIENCE)
        assert where == [("data", reporter.number)]
    assert 0 in reporter.codes
    assert set(reporter.codes) <= {0, 507012, 107012}


def test_block_holds_later_work(schedule: str, device: int) -> None:
    with smooth_l1() as call, subscribed(None):
        before: list[bool] = []
        assert acl.aclrtLaunchCallback(lambda _: before.append(call.untouched), None, BLOCK, None) == 0
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert before == [True]
        assert np.array_equal(call.out, call.expected)


def test_no_block_lets_later_work_run(schedule: str, device: int) -> None:
    """Nobody processes the report before the later work is done."""
    number = threading.get_ident()
    assert acl.aclrtSubscribeReport(number, None) == 0
    seen: list[int] = []
    with smooth_l1() as call:
        assert acl.aclrtLaunchCallback(seen.append, 1, NO_BLOCK, None) == 0
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)
        assert seen == []
        assert acl.aclrtProcessReport(60_000) == 0
        assert seen == [1]
    assert acl.aclrtUnSubscribeReport(number, None) == 0


def test_one_thread_launches_and_processes(schedule: str, device: int) -> None:
    number, seen = threading.get_ident(), list[int]()
    assert acl.aclrtSubscribeReport(number, None) == 0
    with smooth_l1() as call:
        assert acl.aclrtLaunchCallback(seen.append, 1, BLOCK, None) == 0
        assert call.run(None) == 0
        assert acl.aclrtProcessReport(60_000) == 0
        assert seen == [1]
        assert acl.aclrtProcessReport(1) == 507012
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)
    assert acl.aclrtUnSubscribeReport(number, None) == 0


def test_one_thread_for_several_streams(schedule: str, device: int) -> None:
    streams, seen = [create_stream() for _ in range(3)], list[int]()
    with subscribed(*streams):
        for number, stream in enumerate(streams):
            assert acl.aclrtLaunchCallback(seen.append, number, BLOCK, stream) == 0
        for stream in streams:
            assert acl.aclrtSynchronizeStream(stream) == 0
    assert sorted(seen) == [0, 1, 2]
    for stream in streams:
        assert acl.aclrtDestroyStream(stream) == 0


def test_unsubscribing_ends_a_blocked_stream(device: int) -> None:
    number = in_thread(threading.get_ident)
    assert acl.aclrtSubscribeReport(number, None) == 0
    assert acl.aclrtLaunchCallback(print, None, BLOCK, None) == 0
    assert acl.aclrtUnSubscribeReport(number, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0


def test_launch_on_a_stream_that_nobody_subscribed(device: int) -> None:
    assert acl.aclrtLaunchCallback(print, None, BLOCK, None) == acl.ACL_ERROR_RT_STREAM_NO_CB_REG == 107015
    assert "no thread is subscribed" in message()


@pytest.mark.parametrize("block", [-1, 2])
def test_unknown_block_type(device: int, block: int) -> None:
    assert acl.aclrtLaunchCallback(print, None, block, None) == 100000
    assert f"blockType is {block}" in message()


def test_null_callback(device: int) -> None:
    assert acl.aclrtLaunchCallback(None, None, BLOCK, None) == 107000
    assert "fn" in message()


@pytest.mark.parametrize("timeout", [0, -2])
def test_report_time_out_that_means_nothing(timeout: int) -> None:
    assert acl.aclrtProcessReport(timeout) == 100000
    assert f"timeout is {timeout}" in message()


def test_report_of_an_unsubscribed_thread() -> None:
    assert acl.aclrtProcessReport(1) == acl.ACL_ERROR_RT_THREAD_SUBSCRIBE == 107012
    assert "not subscribed" in message()


def test_report_time_out(schedule: str, device: int) -> None:
    number = threading.get_ident()
    assert acl.aclrtSubscribeReport(number, None) == 0
    assert acl.aclrtProcessReport(1) == acl.ACL_ERROR_RT_REPORT_TIMEOUT == 507012
    assert "1 ms" in message()
    assert acl.aclrtUnSubscribeReport(number, None) == 0


def test_report_for_ever(schedule: str, device: int) -> None:
    number, seen = threading.get_ident(), list[int]()
    assert acl.aclrtSubscribeReport(number, None) == 0
    assert acl.aclrtLaunchCallback(seen.append, 1, NO_BLOCK, None) == 0
    assert acl.aclrtProcessReport(-1) == 0
    assert seen == [1]
    assert acl.aclrtUnSubscribeReport(number, None) == 0


def test_one_thread_per_stream(device: int) -> None:
    assert acl.aclrtSubscribeReport(1, None) == 0
    assert acl.aclrtSubscribeReport(2, None) == acl.ACL_ERROR_RT_STREAM_SUBSCRIBE == 107011
    assert message()
    assert acl.aclrtUnSubscribeReport(2, None) == 107012
    assert acl.aclrtUnSubscribeReport(1, None) == 0
    assert acl.aclrtUnSubscribeReport(1, None) == 107012


def test_unsubscribing_another_stream(device: int) -> None:
    stream = create_stream()
    assert acl.aclrtSubscribeReport(1, stream) == 0
    assert acl.aclrtUnSubscribeReport(1, None) == 107011
    assert "thread 1" in message()
    assert acl.aclrtUnSubscribeReport(1, stream) == 0
    assert acl.aclrtDestroyStream(stream) == 0


def test_most_threads(device: int) -> None:
    streams = [create_stream() for _ in range(callbacks.MOST_THREADS + 1)]
    for number, stream in enumerate(streams[:-1], 1):
        assert acl.aclrtSubscribeReport(number, stream) == 0
    assert acl.aclrtSubscribeReport(5000, streams[-1]) == 107012
    assert "1024" in message()
    for number, stream in enumerate(streams[:-1], 1):
        assert acl.aclrtUnSubscribeReport(number, stream) == 0
    for stream in streams:
        assert acl.aclrtDestroyStream(stream) == 0


def test_destroyed_stream_gives_its_thread_free(device: int) -> None:
    stream, number = create_stream(), threading.get_ident()
    assert acl.aclrtSubscribeReport(number, stream) == 0
    assert acl.aclrtDestroyStream(stream) == 0
    assert acl.aclrtProcessReport(1) == 107012
    assert acl.aclrtSubscribeReport(number + 1, None) == 0
    assert number not in callbacks._queues
    assert acl.aclrtUnSubscribeReport(number + 1, None) == 0


# Set B


def test_host_function_runs_on_a_thread_of_the_runtime(schedule: str, device: int) -> None:
    where: list[tuple[object, int]] = []
    assert acl.aclrtLaunchHostFunc(None, lambda data: where.append((data, threading.get_ident())), "data") == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    ((data, thread),) = where
    assert data == "data"
    assert thread != threading.get_ident()


def test_host_functions_of_a_context_share_a_thread(schedule: str, device: int) -> None:
    streams, threads = [create_stream() for _ in range(3)], set[int]()
    for stream in streams:
        assert acl.aclrtLaunchHostFunc(stream, lambda _: threads.add(threading.get_ident()), None) == 0
    assert acl.aclrtSynchronizeDevice() == 0
    assert len(threads) == 1
    for stream in streams:
        assert acl.aclrtDestroyStream(stream) == 0


def test_host_function_holds_later_work(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        before: list[bool] = []
        assert acl.aclrtLaunchHostFunc(None, lambda _: before.append(call.untouched), None) == 0
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert before == [True]
        assert np.array_equal(call.out, call.expected)


def test_null_host_function(device: int) -> None:
    assert acl.aclrtLaunchHostFunc(None, None, None) == 107000
    assert "fn must not be a null pointer" in message()


def test_both_sets_on_one_stream(device: int) -> None:
    first, second = create_stream(), create_stream()
    assert acl.aclrtSubscribeReport(1, first) == 0
    assert acl.aclrtLaunchHostFunc(first, print, None) == 107011
    assert message()
    assert acl.aclrtUnSubscribeReport(1, first) == 0
    assert acl.aclrtLaunchHostFunc(second, lambda _: None, None) == 0
    assert acl.aclrtSubscribeReport(1, second) == 107011
    assert acl.aclrtDestroyStream(first) == 0
    assert acl.aclrtDestroyStream(second) == 0


def test_exception_in_a_callback_is_shown_and_goes_no_further(schedule: str, device: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda what: shown.append(str(what.exc_value)))

    def fail(_: object) -> None:
        raise ValueError("mine")

    assert acl.aclrtLaunchHostFunc(None, fail, None) == 0
    with smooth_l1() as call:
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)
    assert shown == ["mine"]


# What callbacks must not do

_FORBIDDEN: dict[str, Callable[[int, int, int], object]] = {
    "aclrtSynchronizeDevice": lambda *_: acl.aclrtSynchronizeDevice(),
    "aclrtSynchronizeDeviceWithTimeout": lambda *_: acl.aclrtSynchronizeDeviceWithTimeout(1000),
    "aclrtSynchronizeStream": lambda stream, *_: acl.aclrtSynchronizeStream(stream),
    "aclrtSynchronizeStreamWithTimeout": lambda stream, *_: acl.aclrtSynchronizeStreamWithTimeout(stream, 1000),
    "aclrtSynchronizeEvent": lambda _, event, __: acl.aclrtSynchronizeEvent(event),
    "aclrtSynchronizeEventWithTimeout": lambda _, event, __: acl.aclrtSynchronizeEventWithTimeout(event, 1000),
    "aclrtDestroyStream": lambda stream, *_: acl.aclrtDestroyStream(stream),
    "aclrtResetDevice": lambda *_: acl.aclrtResetDevice(0),
    "aclrtResetDeviceForce": lambda *_: acl.aclrtResetDeviceForce(0),
    "aclrtDestroyContext": lambda *_: acl.aclrtDestroyContext(acl.aclrtGetCurrentContext()[0]),
    "aclrtLaunchHostFunc": lambda stream, *_: acl.aclrtLaunchHostFunc(stream, print, None),
    "aclrtRecordEvent": lambda stream, event, _: acl.aclrtRecordEvent(event, stream),
    "aclrtMemsetAsync": lambda stream, _, memory: acl.aclrtMemsetAsync(memory, 4, 0, 4, stream),
    "aclrtMemcpyAsync": lambda stream, _, memory: acl.aclrtMemcpyAsync(memory, 4, bytearray(4), 4, 1, stream),
}


@pytest.mark.parametrize("name", _FORBIDDEN)
def test_calls_that_would_wait_for_their_own_callback(schedule: str, device: int, name: str) -> None:
    context, _ = acl.aclrtCreateContext(device)
    stream, event, memory = create_stream(), create_event(), upload(np.zeros(1, np.float32))
    codes: list[tuple[int, str]] = []

    def misbehave(_: object) -> None:
        acl.aclrtSetCurrentContext(context)
        codes.append((status(_FORBIDDEN[name](stream, event, memory)), message()))

    assert acl.aclrtLaunchHostFunc(stream, misbehave, None) == 0
    assert acl.aclrtSynchronizeStream(stream) == 0
    ((code, text),) = codes
    assert code == 107000
    assert "inside a host callback" in text
    assert acl.aclrtDestroyEvent(event) == 0
    assert acl.aclrtDestroyStream(stream) == 0
    assert acl.aclrtFree(memory) == 0
    assert acl.aclrtDestroyContext(context) == 0
    assert acl.aclrtSetDevice(device) == 0
    assert acl.aclrtResetDevice(device) == 0


def test_callback_that_processes_another_one(schedule: str, device: int) -> None:
    """The outer one is still a callback afterwards."""
    number, codes = threading.get_ident(), list[int]()
    assert acl.aclrtSubscribeReport(number, None) == 0

    def outer(_: object) -> None:
        codes.extend((acl.aclrtProcessReport(60_000), acl.aclrtSynchronizeDevice()))

    assert acl.aclrtLaunchCallback(outer, None, NO_BLOCK, None) == 0
    assert acl.aclrtLaunchCallback(lambda _: codes.append(1), None, NO_BLOCK, None) == 0
    assert acl.aclrtProcessReport(60_000) == 0
    assert codes == [1, 0, 107000]
    assert acl.aclrtSynchronizeStream(None) == 0
    assert acl.aclrtUnSubscribeReport(number, None) == 0


def test_operator_launched_in_a_callback(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        codes: list[int] = []

        def misbehave(_: object) -> None:
            acl.aclrtSetDevice(device)
            codes.append(call.run(None))

        assert acl.aclrtLaunchHostFunc(None, misbehave, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert codes == [361001]
        assert (call.out == -7).all()
    assert acl.aclrtResetDevice(device) == 0


@only_async
def test_callback_may_copy_and_ask(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        results: list[bool] = []

        def read(_: object) -> None:
            acl.aclrtSetDevice(device)
            results.append(bool(np.array_equal(call.out, call.expected)))
            acl.aclrtGetDevice()

        assert call.run(None) == 0
        assert acl.aclrtLaunchHostFunc(None, read, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert results == [True]
    assert acl.aclrtResetDevice(device) == 0
