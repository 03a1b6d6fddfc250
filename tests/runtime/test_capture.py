"""Graph capture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import acl_emu as acl
from aclnnop import aclnnInplaceMul, aclnnInplaceMulGetWorkspaceSize
from tests.runtime.support import NO_HANDLE, in_thread, status, upload

GLOBAL, LOCAL, RELAXED = (
    acl.ACL_MODEL_RI_CAPTURE_MODE_GLOBAL,
    acl.ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
    acl.ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
)
SIZE = 16


@pytest.fixture
def stream(device: int) -> Iterator[int]:
    made, ret = acl.aclrtCreateStream()
    assert ret == 0
    assert made is not None
    yield made
    assert acl.aclrtDestroyStream(made) == 0


@contextmanager
def buffers(*values: float) -> Iterator[list[int]]:
    """Device memory with four equal numbers each."""
    made = [upload(np.full(4, value, np.float32)) for value in values]
    yield made
    for address in made:
        assert acl.aclrtFree(address) == 0


def numbers(address: int) -> list[float]:
    values = np.empty(4, np.float32)
    assert acl.aclrtMemcpy(values, SIZE, address, SIZE, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    return values.tolist()


def multiply(target: int, factor: int, stream: int) -> None:
    tensors = [acl.aclCreateTensor([4], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [4], address) for address in (target, factor)]
    _, executor, ret = aclnnInplaceMulGetWorkspaceSize(*tensors)
    assert ret == 0
    assert aclnnInplaceMul(None, 0, executor, stream) == 0
    for tensor in tensors:
        acl.aclDestroyTensor(tensor)


def test_nothing_runs_before_the_model_does(stream):
    with buffers(1, 2, 5) as (x, y, z):
        multiply(x, y, stream)  # the quick way is known by now
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert acl.aclmdlRICaptureBegin(stream, RELAXED) == 0
        for _ in range(2):
            multiply(x, y, stream)
        assert acl.aclrtMemcpyAsync(z, SIZE, x, SIZE, acl.ACL_MEMCPY_DEVICE_TO_DEVICE, stream) == 0
        assert acl.aclrtMemsetAsync(x, SIZE, 0, 4, stream) == 0
        assert acl.aclmdlRICaptureGetInfo(stream)[0] == acl.ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
        assert (numbers(x), numbers(z)) == ([2] * 4, [5] * 4)
        model, ret = acl.aclmdlRICaptureEnd(stream)
        assert ret == 0
        assert acl.aclmdlRICaptureGetInfo(stream) == (acl.ACL_MODEL_RI_CAPTURE_STATUS_NONE, None, 0)
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert (numbers(x), numbers(z)) == ([2] * 4, [5] * 4)
        for expected in (8, 32):
            assert acl.aclmdlRIExecuteAsync(model, stream) == 0
            assert acl.aclrtSynchronizeStream(stream) == 0
            assert (numbers(x), numbers(z)) == ([0] + [expected] * 3, [expected if expected == 8 else 0] + [expected] * 3)
        assert acl.aclmdlRIExecute(model, -1) == 0
        assert numbers(z)[1] == 128
        assert acl.aclmdlRIDestroy(model) == 0
        assert acl.aclmdlRIExecuteAsync(model, stream) == acl.ACL_ERROR_INVALID_PARAM


def test_two_streams_in_one_model(stream):
    other, _ = acl.aclrtCreateStream()
    fork, join = (acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)[0] for _ in range(2))
    with buffers(1, 3) as (x, y):
        assert acl.aclmdlRICaptureBegin(stream, LOCAL) == 0
        multiply(x, y, stream)
        assert acl.aclrtRecordEvent(fork, stream) == 0
        assert acl.aclrtStreamWaitEvent(other, fork) == 0
        multiply(x, y, other)
        assert acl.aclmdlRICaptureEnd(other)[-1] == acl.ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED
        assert acl.aclrtSynchronizeEvent(fork) == acl.ACL_ERROR_RT_EVENT_CAPTURED
        assert acl.aclrtQueryEventStatus(fork)[-1] == acl.ACL_ERROR_RT_EVENT_CAPTURED
        assert acl.aclrtRecordEvent(join, other) == 0
        assert acl.aclrtStreamWaitEvent(stream, join) == 0
        multiply(x, y, stream)
        model, ret = acl.aclmdlRICaptureEnd(stream)
        assert ret == 0
        assert acl.aclmdlRIExecuteAsync(model, stream) == 0
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert numbers(x) == [27] * 4
        assert acl.aclmdlRIDestroy(model) == 0
        multiply(x, y, other)  # it runs again
        assert acl.aclrtSynchronizeStream(other) == 0
        assert numbers(x) == [81] * 4
        # Without the second event the model is not complete.
        assert acl.aclmdlRICaptureBegin(stream, LOCAL) == 0
        assert acl.aclrtRecordEvent(fork, stream) == 0
        assert acl.aclrtStreamWaitEvent(other, fork) == 0
        multiply(x, y, other)
        assert acl.aclmdlRICaptureEnd(stream) == (None, acl.ACL_ERROR_RT_STREAM_UNJOINED)
        assert acl.aclrtStreamWaitEvent(other, fork) == acl.ACL_ERROR_RT_CAPTURE_DEPENDENCY
    for event in (fork, join):
        assert acl.aclrtDestroyEvent(event) == 0
    assert acl.aclrtDestroyStream(other) == 0


@pytest.mark.parametrize("mode", [GLOBAL, LOCAL, RELAXED])
def test_what_is_refused_meanwhile(stream, mode):
    code = acl.ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT
    host = np.zeros(4, np.float32)
    with buffers(1) as (x,):
        assert acl.aclmdlRICaptureBegin(stream, mode) == 0

        def sync_calls() -> list[int]:
            return [acl.aclrtMemcpy(host, SIZE, x, SIZE, acl.ACL_MEMCPY_DEVICE_TO_HOST), acl.aclrtMemset(x, SIZE, 0, SIZE)]

        assert sync_calls() == ([0, 0] if mode == RELAXED else [code, code])

        def elsewhere() -> list[int]:
            acl.aclrtSetDevice(0)
            try:
                return sync_calls()
            finally:
                acl.aclrtResetDevice(0)

        assert in_thread(elsewhere) == ([code, code] if mode == GLOBAL else [0, 0])
        pageable = acl.aclrtMemcpyAsync(host, SIZE, x, SIZE, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream)
        assert pageable == (acl.ACL_ERROR_RT_STREAM_CAPTURED if mode == RELAXED else acl.ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC)
        for call in (
            lambda: acl.aclrtSynchronizeStream(stream),
            lambda: acl.aclrtSynchronizeStreamWithTimeout(stream, 10),
            lambda: acl.aclrtStreamQuery(stream),
            lambda: acl.aclrtDestroyStream(stream),
            lambda: acl.aclmdlRICaptureBegin(stream, mode),
        ):
            assert status(call()) == acl.ACL_ERROR_RT_STREAM_CAPTURED
        assert acl.aclrtSynchronizeDevice() == (0 if mode == RELAXED else acl.ACL_ERROR_RT_STREAM_CAPTURED)
        active, model, _ = acl.aclmdlRICaptureGetInfo(stream)
        assert active == acl.ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
        for call in (acl.aclmdlRIDestroy, lambda model: acl.aclmdlRIExecuteAsync(model, stream)):
            assert call(model) == acl.ACL_ERROR_RT_MODEL_CAPTURED

        def end() -> int:
            acl.aclrtSetDevice(0)
            try:
                made, ret = acl.aclmdlRICaptureEnd(stream)
                return ret or acl.aclmdlRIDestroy(made)
            finally:
                acl.aclrtResetDevice(0)

        assert in_thread(end) == (0 if mode == RELAXED else acl.ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD)
        if mode != RELAXED:
            assert end() == 0
        assert acl.aclmdlRICaptureEnd(stream)[-1] == acl.ACL_ERROR_RT_STREAM_NOT_CAPTURED


def test_wrong_arguments(stream):
    wrong = [
        acl.aclmdlRICaptureBegin(None, GLOBAL),
        acl.aclmdlRICaptureBegin(stream, 3),
        acl.aclmdlRICaptureEnd(None),
        acl.aclmdlRIExecuteAsync(None, stream),
        acl.aclmdlRIExecuteAsync(NO_HANDLE, stream),
        acl.aclmdlRIExecuteAsync(stream, stream),
        acl.aclmdlRIDestroy(None),
    ]
    assert [status(result) for result in wrong] == [acl.ACL_ERROR_INVALID_PARAM] * len(wrong)
    default, _ = acl.aclrtCtxGetCurrentDefaultStream()
    assert acl.aclmdlRICaptureBegin(default, GLOBAL) == acl.ACL_ERROR_INVALID_PARAM


def test_waiting_for_work_outside(stream):
    event, _ = acl.aclrtCreateEventExWithFlag(acl.ACL_EVENT_SYNC)
    assert acl.aclrtRecordEvent(event, None) == 0
    assert acl.aclmdlRICaptureBegin(stream, RELAXED) == 0
    assert acl.aclrtStreamWaitEvent(stream, event) == acl.ACL_ERROR_RT_CAPTURE_DEPENDENCY
    model, ret = acl.aclmdlRICaptureEnd(stream)
    assert ret == 0
    assert acl.aclmdlRIDestroy(model) == 0
    assert acl.aclrtDestroyEvent(event) == 0
