"""What the runtime tests share: threads, device arrays, a stream that is held up, one small operator call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import acl_emu as acl
import aclnnop
from acl_emu.core import dtypes
from acl_emu.runtime import memory

T = TypeVar("T")
Array = npt.NDArray[Any]

HUGE_FIRST = acl.ACL_MEM_MALLOC_HUGE_FIRST
NO_HANDLE = 0x1234
"""A number that was never a handle."""


def status(result: Any) -> int:
    """The status code of any call: the last of its results."""
    return int(result[-1] if isinstance(result, tuple) else result)


def in_thread(function: Callable[[], T]) -> T:
    """Run a function on a thread of its own, which was never bound to a device."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def allocate(size: int) -> int:
    address, ret = acl.aclrtMalloc(size, HUGE_FIRST)
    assert ret == 0
    assert address is not None
    return address


def upload(values: Array) -> int:
    """A copy of an array in device memory of its own."""
    address = allocate(max(values.nbytes, 1))
    assert acl.aclrtMemcpy(address, values.nbytes, values, values.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    return address


def download(address: int, count: int, dtype: npt.DTypeLike = np.float32) -> Array:
    values = np.empty(count, dtype)
    assert acl.aclrtMemcpy(values, values.nbytes, address, values.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    return values


def create_stream() -> int:
    stream, ret = acl.aclrtCreateStream()
    assert ret == 0
    assert stream is not None
    return stream


def create_event() -> int:
    event, ret = acl.aclrtCreateEvent()
    assert ret == 0
    assert event is not None
    return event


def create_tensor(shape: Sequence[int], address: int | None, dtype: npt.DTypeLike = np.float32) -> int:
    tensor = acl.aclCreateTensor(shape, dtypes.from_numpy(dtype).code, None, 0, acl.ACL_FORMAT_ND, shape, address)
    assert tensor is not None
    return tensor


@contextmanager
def held(stream: int | None) -> Iterator[threading.Event]:
    """A stream whose next task does not end before the block does, or before the gate is set."""
    gate = threading.Event()
    assert acl.aclrtLaunchHostFunc(stream, lambda _: gate.wait(), None) == 0
    try:
        yield gate
    finally:
        gate.set()


class SmoothL1:
    """aclnnSmoothL1LossBackward on three vectors: phase one is done, phase two is ``run``."""

    def __init__(self, grad: Array, x: Array, y: Array, *, null: bool = False) -> None:
        self.count = grad.size
        self.expected = grad * np.clip(x - y, -1, 1)
        self.memory = [upload(values) for values in (grad, x, y, np.full_like(grad, -7))]
        self.tensors = [create_tensor(grad.shape, None if null else address) for address in self.memory]
        self.phase_one()

    def phase_one(self) -> None:
        grad, x, y, out = self.tensors
        self.size, self.executor, ret = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(grad, x, y, 0, 1.0, out)
        assert ret == 0
        self.workspace = allocate(self.size) if self.size else None

    def run(self, stream: int | None) -> int:
        return int(aclnnop.aclnnSmoothL1LossBackward(self.workspace, self.size, self.executor, stream))

    @property
    def out(self) -> Array:
        return download(self.memory[3], self.count)

    @property
    def untouched(self) -> bool:
        """Whether the output is as it was; needs no context."""
        return bool((memory.array_at(self.memory[3], (self.count,), np.dtype(np.float32)) == -7).all())

    def close(self) -> None:
        for tensor in self.tensors:
            acl.aclDestroyTensor(tensor)
        for address in self.memory + ([self.workspace] if self.workspace else []):
            assert acl.aclrtFree(address) == 0
        acl.aclDestroyAclOpExecutor(self.executor)  # an error where phase two has used it up


@contextmanager
def smooth_l1(count: int = 4, *, null: bool = False) -> Iterator[SmoothL1]:
    ramp = np.linspace(-2, 2, count, dtype=np.float32)
    call = SmoothL1(np.full(count, 3, np.float32), ramp, ramp[::-1].copy(), null=null)
    try:
        yield call
    finally:
        call.close()


class BadTarget:
    """aclnnCrossEntropyLossGrad with a class that does not exist: its kernel fails."""

    def __init__(self, bad: int = 9) -> None:
        arrays = (np.ones(1, np.float32), np.ones((2, 2), np.float32), np.array([0, bad], np.int64))
        out = np.full((2, 2), -7, np.float32)
        self.memory = [upload(values) for values in (*arrays, out)]
        self.tensors = [
            create_tensor(values.shape, address, values.dtype) for values, address in zip((*arrays, out), self.memory, strict=True)
        ]

    def run(self, stream: int | None) -> int:
        *inputs, out = self.tensors
        size, executor, ret = aclnnop.aclnnCrossEntropyLossGradGetWorkspaceSize(*inputs, None, None, None, "sum", -100, 0.0, 0.0, out)
        assert ret == 0
        if size:
            self.memory.append(allocate(size))
        return int(aclnnop.aclnnCrossEntropyLossGrad(self.memory[-1] if size else None, size, executor, stream))

    @property
    def out(self) -> Array:
        return download(self.memory[3], 4)

    def close(self) -> None:
        for tensor in self.tensors:
            assert acl.aclDestroyTensor(tensor) == 0
        for address in self.memory:
            assert acl.aclrtFree(address) == 0


@contextmanager
def bad_target(bad: int = 9) -> Iterator[BadTarget]:
    call = BadTarget(bad)
    try:
        yield call
    finally:
        call.close()
