"""Calls from Python that were made before, which C carries out: they differ from the first one in nothing but time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core import handles, observe
from acl_emu.runtime import memory, plans
from acl_emu.spec import Operator
from tests.conftest import message, run_python
from tests.operators.test_fused_linear_cross_entropy_loss_grad import valid
from tests.runtime.support import SmoothL1, allocate, create_stream, create_tensor, download, held, in_thread, smooth_l1, upload

PLAN, RUN = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize, aclnnop.aclnnSmoothL1LossBackward
not_eager = pytest.mark.parametrize("schedule", ["async", "lazy"], indirect=True)


@pytest.fixture
def call(device: int) -> Iterator[SmoothL1]:
    """A call whose arguments phase one has been given often enough."""
    with smooth_l1() as made:
        again(made)
        again(made)
        yield made


def again(call: SmoothL1) -> None:
    """Run what there is, then phase one once more."""
    assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0
    assert np.array_equal(call.out, call.expected)
    assert acl.aclrtMemset(call.memory[3], call.count * 4, 0, call.count * 4) == 0
    call.phase_one()


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators whose phase one has come to Python, in order."""
    names: list[str] = []
    prepare = Operator._prepare

    def count(operator: Operator, arguments: Any) -> Any:
        names.append(operator.name)
        return prepare(operator, arguments)

    monkeypatch.setattr(Operator, "_prepare", count)
    return names


# Phase one


def test_the_executor_is_made_in_c(call: SmoothL1, entered: list[str]) -> None:
    seen = []
    for _ in range(5):
        seen.append(call.executor)
        again(call)
    assert not entered
    assert len(set(seen)) == 5
    for used in seen:
        assert RUN(None, 0, used, None) == 561000
        assert "destroyed" in message()


@pytest.mark.parametrize("schedule", ["eager"], indirect=True)
def test_eager_streams_run_it_inside_the_call(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        for _ in range(4):
            assert call.run(None) == 0
            assert np.array_equal(download(call.memory[3], 4), call.expected)
            call.phase_one()


def test_unused_executors(call: SmoothL1) -> None:
    before = handles.census()["aclOpExecutor"]
    grad, x, y, out = call.tensors
    made = [PLAN(grad, x, y, 0, 1.0, out) for _ in range(10)]
    assert handles.census()["aclOpExecutor"] == before + 10
    for size, executor, status in made:
        assert (size, status) == (0, 0)
        assert acl.aclDestroyAclOpExecutor(executor) == 0
        assert acl.aclDestroyAclOpExecutor(executor) == 561000
    assert handles.census()["aclOpExecutor"] == before


def test_numbers_that_equal_each_other_are_not_the_same(call: SmoothL1) -> None:
    grad, x, y, out = call.tensors
    found = []
    for beta in (1.0, 1, True, 0.0, -0.0, 2.0, 1.0):
        for _ in range(3):
            size, executor, status = PLAN(grad, x, y, 0, beta, out)
            assert (size, status, RUN(None, size, executor, None), acl.aclrtSynchronizeStream(None)) == (0, 0, 0, 0)
        found.append(call.out.tolist())
    assert found[0] == found[1] == found[2] == found[6] == call.expected.tolist()
    assert found[3] == found[4] == (3 * np.sign(call.expected)).tolist()
    assert found[5] not in (found[0], found[3])
    for _ in range(3):
        assert PLAN(grad, x, y, 0, -1.0, out) == (0, None, 161002)
        assert PLAN(grad, x, y, 9, 1.0, out) == (0, None, 161002)


def test_names_of_arguments(call: SmoothL1) -> None:
    grad, x, y, out = call.tensors
    for _ in range(3):
        size, executor, status = PLAN(grad, x, y, reduction=0, beta=1.0, gradInput=out)
        assert status == RUN(workspace=None, workspaceSize=size, executor=executor, stream=None) == 0
    with pytest.raises(TypeError):
        PLAN(grad, x, y, 0, 1.0)
    with pytest.raises(TypeError):
        RUN(None, 0, None)
    with pytest.raises(TypeError):
        acl.aclrtSynchronizeStream()  # type: ignore[call-arg]


def test_a_tensor_that_is_described_anew(call: SmoothL1) -> None:
    grad, x, y, out = call.tensors
    assert acl.aclInitTensor(x, [3], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [3], None) == 0
    assert PLAN(grad, x, y, 0, 1.0, out) == (0, None, 161002)
    assert acl.aclInitTensor(x, [4], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [4], None) == 0
    again(call)


def test_a_tensor_that_is_destroyed(call: SmoothL1) -> None:
    grad, x, y, out = call.tensors
    assert acl.aclDestroyTensor(y) == 0
    assert PLAN(grad, x, y, 0, 1.0, out) == (0, None, 161002)
    assert "destroyed" in message()
    assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0  # the executor was made before
    assert np.array_equal(call.out, call.expected)


def test_a_new_address_between_the_phases(call: SmoothL1) -> None:
    other = upload(np.zeros(4, np.float32))
    assert acl.aclSetRawTensorAddr(call.tensors[3], other) == 0
    assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0
    assert np.array_equal(download(other, 4), call.expected)
    assert not call.out.any()
    assert acl.aclrtFree(other) == 0


def test_other_tensors_of_the_same_kind(call: SmoothL1, entered: list[str]) -> None:
    """Neither addresses nor offsets tell calls apart."""
    count = 16
    values = np.linspace(-2, 2, count, dtype=np.float32)
    memory_ = [upload(np.ones(count, np.float32)), upload(values), upload(np.zeros(count, np.float32)), upload(np.zeros(count, np.float32))]
    for offset in range(0, count - 4, 3):
        tensors = [acl.aclCreateTensor((4,), acl.ACL_FLOAT, None, offset, acl.ACL_FORMAT_ND, (4,), address) for address in memory_]
        grad, x, y, out = tensors
        size, executor, status = PLAN(grad, x, y, 0, 1.0, out)
        assert (size, status, RUN(None, size, executor, None), acl.aclrtSynchronizeStream(None)) == (0, 0, 0, 0)
        expected = np.clip(values[offset : offset + 4], -1, 1)
        assert np.array_equal(download(memory_[3] + 4 * offset, 4), expected)
        for tensor in tensors:
            assert acl.aclDestroyTensor(tensor) == 0
    assert not entered
    for address in memory_:
        assert acl.aclrtFree(address) == 0


FOREACH_PLAN, FOREACH_RUN = aclnnop.aclnnForeachNegGetWorkspaceSize, aclnnop.aclnnForeachNeg


@contextmanager
def tensor_list(*places: tuple[int, int]) -> Iterator[int]:
    """A list of tensors of so many floats at these addresses."""
    made = acl.aclCreateTensorList([create_tensor((count,), address) for address, count in places])
    assert made is not None
    yield made
    assert acl.aclDestroyTensorList(made) == 0


def test_lists(device: int, entered: list[str]) -> None:
    """Members count, not the list that holds them."""
    plans.forget()
    values = np.arange(1, 25, dtype=np.float32)
    source, target = upload(values), upload(np.zeros(24, np.float32))
    for first in (0, 8, 16):
        places = [(4 * first + 4 * offset, count) for offset, count in ((0, 1), (1, 3), (4, 4))]
        with tensor_list(*[(source + at, n) for at, n in places]) as x, tensor_list(*[(target + at, n) for at, n in places]) as out:
            size, executor, status = FOREACH_PLAN(x, out)
            workspace = allocate(size) if size else None
            assert (status, FOREACH_RUN(workspace, size, executor, None), acl.aclrtSynchronizeStream(None)) == (0, 0, 0)
            assert not workspace or acl.aclrtFree(workspace) == 0
    assert np.array_equal(download(target, 24), -values)
    assert len(entered) == 1
    assert acl.aclrtFree(source) == acl.aclrtFree(target) == 0


@not_eager
def test_a_list_that_the_engine_leaves_halfway(schedule: str, device: int, entered: list[str]) -> None:
    """In place: what the engine has done before it met a member that overlaps is not done again."""
    plans.forget()
    values = np.arange(1, 9, dtype=np.float32)
    address = upload(np.zeros(9, np.float32))
    with (
        tensor_list((address, 2), (address + 8, 4), (address + 28, 1)) as x,
        tensor_list((address, 2), (address + 12, 4), (address + 28, 1)) as out,
    ):
        for _ in range(3):
            assert acl.aclrtMemcpy(address, 32, values, 32, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
            size, executor, status = FOREACH_PLAN(x, out)
            workspace = allocate(size) if size else None
            assert (status, FOREACH_RUN(workspace, size, executor, None), acl.aclrtSynchronizeStream(None)) == (0, 0, 0)
            assert download(address, 8).tolist() == [-1, -2, 3, -3, -4, -5, -6, -8]
            assert not workspace or acl.aclrtFree(workspace) == 0
    assert len(entered) == 1
    assert acl.aclrtFree(address) == 0


def test_a_negative_offset_is_another_kind(call: SmoothL1) -> None:
    grad, _, y, out = call.tensors
    bad = acl.aclCreateTensor((4,), acl.ACL_FLOAT, None, -1, acl.ACL_FORMAT_ND, (4,), call.memory[1])
    for _ in range(2):
        assert PLAN(grad, bad, y, 0, 1.0, out) == (0, None, 161002)
        assert "offset -1" in message()
    assert acl.aclDestroyTensor(bad) == 0


def test_an_offset_counts_from_phase_one(call: SmoothL1) -> None:
    """Phase two takes the address that the tensor has then, and the description that it had in phase one."""
    x = call.tensors[1]
    assert acl.aclInitTensor(x, [4], acl.ACL_FLOAT, None, 3, acl.ACL_FORMAT_ND, [4], None) == 0
    assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0
    assert np.array_equal(call.out, call.expected)
    assert acl.aclInitTensor(x, [4], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [4], None) == 0


def test_no_plans_are_kept(device: int, entered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACLNN_CACHE_LIMIT", "0")
    plans.limit.cache_clear()
    plans.forget()
    with smooth_l1() as call:
        for _ in range(4):
            again(call)
    assert len(entered) == 5
    monkeypatch.undo()
    plans.limit.cache_clear()


# Phase two


def test_made_repeatable(call: SmoothL1) -> None:
    assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
    other = upload(np.zeros(4, np.float32))
    for address in (call.memory[3], call.memory[3], other, other, call.memory[3]):
        assert acl.aclSetOutputTensorAddr(call.executor, 0, call.tensors[3], address) == 0
        for _ in range(3):
            assert acl.aclrtMemset(address, 16, 0, 16) == 0
            assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0
            assert np.array_equal(download(address, 4), call.expected)
    assert acl.aclDestroyAclOpExecutor(call.executor) == 0
    assert call.run(None) == 561000
    assert acl.aclrtFree(other) == 0


def test_misuse_of_a_repeatable_executor(call: SmoothL1) -> None:
    assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
    stream, gone = create_stream(), create_stream()
    for _ in range(3):
        assert call.run(stream) == call.run(gone) == 0
    assert acl.aclrtDestroyStream(gone) == 0
    assert aclnnop.aclnnMul(None, 0, call.executor, stream) == 561000
    assert call.run(gone) == 361001
    assert RUN(None, 512, call.executor, stream) == 161001
    assert in_thread(lambda: call.run(stream)) == 361001
    assert acl.aclrtSetDevice(1) == 0
    assert call.run(stream) == 361001
    assert acl.aclrtResetDevice(1) == acl.aclrtSetDevice(0) == acl.aclrtResetDevice(0) == 0
    assert call.run(stream) == acl.aclrtSynchronizeStream(stream) == acl.aclrtDestroyStream(stream) == 0
    assert acl.aclDestroyAclOpExecutor(call.executor) == 0


def test_workspace(device: int) -> None:
    values = np.array([0.5, 1, -2, 4], np.float16)
    memory_ = [upload(values) for _ in range(3)] + [upload(np.zeros(4, np.float32))]
    tensors = [create_tensor((4,), address, np.float16) for address in memory_[:3]] + [create_tensor((4,), memory_[3])]
    grad, x, y, out = tensors
    size, executor, status = PLAN(grad, x, y, 0, 1.0, out)
    assert status == acl.aclSetAclOpExecutorRepeatable(executor) == 0
    assert size > 0
    room, host = allocate(size), np.zeros(size, np.uint8)
    for _ in range(3):
        assert RUN(room, size, executor, None) == acl.aclrtSynchronizeStream(None) == 0
        assert RUN(None, size, executor, None) == 161001
        assert RUN(room, size - 1, executor, None) == 161002
        assert RUN(host.ctypes.data, size, executor, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 507015
        assert "not device memory" in message()
    assert acl.aclDestroyAclOpExecutor(executor) == 0
    for tensor in tensors:
        assert acl.aclDestroyTensor(tensor) == 0
    for address in (*memory_, room):
        assert acl.aclrtFree(address) == 0


def test_a_bad_address(call: SmoothL1) -> None:
    assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
    for _ in range(3):
        assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0
    for bad in (None, 0x1000):
        assert acl.aclSetInputTensorAddr(call.executor, 1, call.tensors[1], bad) == 0
        for _ in range(3):
            assert call.run(None) == 0
            assert acl.aclrtSynchronizeStream(None) == 507015
            assert acl.aclrtSynchronizeStream(None) == 0
    assert acl.aclSetInputTensorAddr(call.executor, 1, call.tensors[1], call.memory[1]) == 0
    for _ in range(3):
        assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0
    assert acl.aclDestroyAclOpExecutor(call.executor) == 0


def test_operands_that_overlap(device: int) -> None:
    """The engine leaves them to numpy."""
    values = np.linspace(-2, 2, 8, dtype=np.float32)
    ones, address = upload(np.ones(8, np.float32)), upload(np.zeros(9, np.float32))
    grad, x, y, out = (create_tensor((8,), where) for where in (ones, address, ones, address + 4))
    for _ in range(4):
        assert acl.aclrtMemcpy(address, 32, values, 32, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
        size, executor, status = PLAN(grad, x, y, 0, 1.0, out)
        assert status == RUN(None, size, executor, None) == acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(download(address + 4, 8), np.clip(values - 1, -1, 1))
    for tensor in (grad, x, y, out):
        assert acl.aclDestroyTensor(tensor) == 0
    assert acl.aclrtFree(ones) == acl.aclrtFree(address) == 0


def test_a_context_that_stops(call: SmoothL1) -> None:
    context, status = acl.aclrtCreateContext(0)
    assert status == 0
    stream, other = create_stream(), create_stream()
    assert acl.aclSetAclOpExecutorRepeatable(call.executor) == acl.aclrtSetStreamFailureMode(stream, 1) == 0
    for _ in range(3):
        assert call.run(stream) == call.run(other) == acl.aclrtSynchronizeStream(stream) == acl.aclrtSynchronizeStream(other) == 0
    assert acl.aclSetInputTensorAddr(call.executor, 1, call.tensors[1], 0x1000) == call.run(stream) == 0
    assert acl.aclrtSynchronizeStream(stream) == 507015
    assert acl.aclSetInputTensorAddr(call.executor, 1, call.tensors[1], call.memory[1]) == 0
    memory.fill(call.memory[3], 0, 16)
    for one in (stream, other, create_stream()):
        for _ in range(3):
            assert call.run(one) == 0
            assert acl.aclrtSynchronizeStream(one) == 507015
    assert not memory.array_at(call.memory[3], (4,), np.dtype(np.float32)).any()
    assert acl.aclrtDestroyContext(context) == acl.aclrtSetDevice(0) == acl.aclrtResetDevice(0) == 0
    assert acl.aclDestroyAclOpExecutor(call.executor) == 0


# Streams


@not_eager
def test_in_order_with_other_tasks(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        stream, copy = create_stream(), upload(np.zeros(4, np.float32))
        assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
        for _ in range(300):
            assert acl.aclrtMemsetAsync(call.memory[3], 16, 0, 16, stream) == 0
            assert call.run(stream) == call.run(stream) == 0
            assert acl.aclrtMemcpyAsync(copy, 16, call.memory[3], 16, acl.ACL_MEMCPY_DEVICE_TO_DEVICE, stream) == 0
            assert acl.aclrtMemsetAsync(call.memory[3], 16, 0, 16, stream) == 0
        assert acl.aclrtSynchronizeStream(stream) == acl.aclrtDestroyStream(stream) == 0
        assert np.array_equal(download(copy, 4), call.expected)
        assert not call.out.any()
        assert acl.aclDestroyAclOpExecutor(call.executor) == acl.aclrtFree(copy) == 0


@not_eager
def test_many_at_once(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        stream = create_stream()
        assert call.run(stream) == 0
        for _ in range(20_000):
            call.phase_one()
            assert call.run(stream) == 0
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert acl.aclrtStreamQuery(stream) == (acl.ACL_STREAM_STATUS_COMPLETE, 0)
        assert np.array_equal(call.out, call.expected)
        assert acl.aclrtDestroyStream(stream) == 0


@not_eager
def test_behind_a_task_that_is_held_up(schedule: str, call: SmoothL1) -> None:
    stream = create_stream()
    assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
    for _ in range(2):
        assert call.run(stream) == acl.aclrtSynchronizeStream(stream) == 0
    assert acl.aclrtMemset(call.memory[3], 16, 0, 16) == 0
    with held(stream):
        assert call.run(stream) == 0
        assert acl.aclrtSynchronizeStreamWithTimeout(stream, 10) == 507046
        assert not memory.array_at(call.memory[3], (4,), np.dtype(np.float32)).any()
    assert acl.aclrtSynchronizeStream(stream) == 0
    assert np.array_equal(call.out, call.expected)
    assert acl.aclrtDestroyStream(stream) == acl.aclDestroyAclOpExecutor(call.executor) == 0


@not_eager
@pytest.mark.parametrize("count", [4, 40_000], ids=["short", "long"])
def test_threads_that_wait_for_one_stream(schedule: str, device: int, count: int) -> None:
    with smooth_l1(count) as call:
        assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
        stream, found = create_stream(), []

        def work() -> None:
            assert acl.aclrtSetDevice(0) == 0
            found.extend(call.run(stream) or acl.aclrtSynchronizeStream(stream) for _ in range(200))
            assert acl.aclrtResetDevice(0) == 0

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [0] * 800
        assert np.array_equal(call.out, call.expected)
        assert acl.aclrtDestroyStream(stream) == acl.aclDestroyAclOpExecutor(call.executor) == 0


def test_streams_that_are_destroyed_while_a_thread_waits(device: int) -> None:
    with smooth_l1(40_000) as call:
        assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
        for force in (False, True) * 20:
            stream = create_stream()
            begun = threading.Event()

            def work(stream: int = stream, begun: threading.Event = begun) -> None:
                assert acl.aclrtSetDevice(0) == 0
                while not call.run(stream):
                    begun.set()
                    acl.aclrtSynchronizeStream(stream)
                begun.set()
                assert acl.aclrtResetDevice(0) == 0

            thread = threading.Thread(target=work)
            thread.start()
            begun.wait()
            assert (acl.aclrtDestroyStreamForce if force else acl.aclrtDestroyStream)(stream) == 0
            thread.join()
        assert acl.aclDestroyAclOpExecutor(call.executor) == 0


# Watching


class Listener(observe.Tool):
    def __init__(self) -> None:
        self.calls: list[tuple[str, int | None]] = []
        self.works: list[str] = []
        self.begun = 0

    def call_ends(self, call: observe.Call) -> None:
        self.calls.append((call.name, call.status))

    def submitted(self, work: observe.Work) -> None:
        self.works.append(work.label)

    def task_begins(self, *_: object) -> None:
        self.begun += 1


def test_watched_meanwhile(call: SmoothL1) -> None:
    listener = Listener()
    name = "aclnnSmoothL1LossBackward"
    grad, x, y, out = call.tensors
    with observe.watched(listener):
        assert call.run(None) == 0
        _, executor, _ = PLAN(grad, x, y, 0, 1.0, out)
        assert RUN(None, 0, executor, None) == acl.aclrtSynchronizeStream(None) == 0
    assert listener.calls == [(name, 0), (name + "GetWorkspaceSize", 0), (name, 0), ("aclrtSynchronizeStream", 0)]
    assert listener.works == [name] * 2
    assert listener.begun == 2
    call.phase_one()
    again(call)
    assert len(listener.calls) == 4


@pytest.mark.parametrize("schedule", ["lazy"], indirect=True)
def test_a_call_of_many_tensors_that_python_takes_over(schedule: str, device: int, entered: list[str]) -> None:
    """What C put on the stream is run by Python where somebody has begun to watch: with the addresses of all tensors."""
    given = valid().arguments
    memory_of = {name: upload(value) for name, value in given.items() if isinstance(value, np.ndarray)}
    tensors = {name: create_tensor(given[name].shape, address, given[name].dtype) for name, address in memory_of.items()}
    assert len(tensors) == 9
    arguments = [tensors.get(name, value) for name, value in given.items()]

    def run() -> tuple[bool, list[bytes]]:
        entered.clear()
        size, executor, ret = aclnnop.aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(*arguments)
        assert ret == 0
        workspace, made_in_c = allocate(size), not entered
        for name in ("inputGradOut", "weightGradOut"):
            assert acl.aclrtMemset(memory_of[name], given[name].nbytes, 0, given[name].nbytes) == 0
        assert aclnnop.aclnnFusedLinearCrossEntropyLossGrad(workspace, size, executor, None) == 0
        with observe.watched(Listener()) if made_in_c else nullcontext():
            assert acl.aclrtSynchronizeStream(None) == acl.aclrtFree(workspace) == 0
        return made_in_c, [download(memory_of[name], given[name].nbytes, np.uint8).tobytes() for name in ("inputGradOut", "weightGradOut")]

    found = [run() for _ in range(4)]
    assert not found[0][0]
    assert found[3][0]
    assert found[3][1] == found[0][1]
    assert all(any(values) for values in found[0][1])
    for tensor in tensors.values():
        assert acl.aclDestroyTensor(tensor) == 0
    for address in memory_of.values():
        assert acl.aclrtFree(address) == 0


# Processes

CALLS = """
import os, signal, sys
import numpy as np
import acl_emu as acl, aclnnop

def call(count=100_000):
    address, _ = acl.aclrtMalloc(4 * count, 0)
    tensor = acl.aclCreateTensor((count,), acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, (count,), address)
    _, executor, _ = aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, tensor)
    assert acl.aclSetAclOpExecutorRepeatable(executor) == 0
    return lambda: aclnnop.aclnnMul(None, 0, executor, None)

acl.aclrtSetDevice(0)
run = call()
for _ in range(3):
    assert run() == acl.aclrtSynchronizeStream(None) == 0
"""


def test_a_signal_while_waiting() -> None:
    code = """
def heard(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, heard)
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
try:
    while True:
        for _ in range(1000):
            run()
        acl.aclrtSynchronizeStream(None)
except KeyboardInterrupt:
    signal.setitimer(signal.ITIMER_REAL, 0)
print(acl.aclrtSynchronizeStream(None), run(), acl.aclrtSynchronizeStream(None))
"""
    done = run_python(CALLS + code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 0 0\n", "")


def test_the_process_ends_with_work_on_a_stream() -> None:
    done = run_python(CALLS + "for _ in range(5000): run()\nprint('end')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_launch_that_python_cannot_take_over() -> None:
    """It is a fault of the stream, which goes on; a process of its own, because a stream that stands still would stop the tests."""
    code = """
from acl_emu.runtime import stream
make, made = stream.make_launch, []

def make_one_fail(*launch):
    made.append(launch)
    if len(made) == 2:
        raise MemoryError("none left")
    return make(*launch)

stream.make_launch = make_one_fail
for _ in range(3):
    assert run() == 0
print(acl.aclrtSynchronizeStreamWithTimeout(None, 900_000), len(made))  # who waits with a time-out leaves the work to Python
print(acl.aclGetRecentErrMsg())
print(acl.aclrtSynchronizeStream(None), run(), acl.aclrtSynchronizeStream(None))
"""
    done = run_python(CALLS + code, ACL_EMU_SCHEDULE="lazy")
    assert (done.returncode, done.stderr) == (0, "")
    first, *text, last = done.stdout.splitlines()
    assert (first, last) == ("507015 3", "0 0 0")
    assert "a task stopped with MemoryError: none left" in "".join(text)


@pytest.mark.parametrize("schedule", ["async", "lazy", "eager"])
def test_signals_at_any_moment(schedule: str) -> None:
    """Ctrl-C, hundreds of times: no task is lost and no turn is kept, so that the streams go on."""
    code = """
import random
draw = random.Random(7)
address, _ = acl.aclrtMalloc(64, 0)
other, _ = acl.aclrtCreateStream()
event, _ = acl.aclrtCreateEvent()

interrupts, heard_times = False, 0

def heard(*_):
    if interrupts:
        raise KeyboardInterrupt

def work():
    for _ in range(20):
        acl.aclrtMemsetAsync(address, 64, 1, 64, None)
        run()
        acl.aclrtRecordEvent(event, None)
        acl.aclrtStreamWaitEvent(other, event)
        acl.aclrtLaunchHostFunc(other, lambda _: None, None)
    acl.aclrtSynchronizeStreamWithTimeout(None, 900_000)
    acl.aclrtSynchronizeStream(other)

signal.signal(signal.SIGALRM, heard)
work()  # Python's own way to start a thread is not safe from signals
for _ in range(600):
    try:
        interrupts = True
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(2e-5, 2e-3))
        work()
        interrupts = False
    except KeyboardInterrupt:
        interrupts = False
        heard_times += 1
    for stream in (None, other):
        assert acl.aclrtSynchronizeStreamWithTimeout(stream, 900_000) == 0, acl.aclGetRecentErrMsg()
signal.setitimer(signal.ITIMER_REAL, 0)
assert heard_times > 100
print("fine")
"""
    done = run_python(CALLS.replace("100_000", "100") + code, ACL_EMU_SCHEDULE=schedule)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")
