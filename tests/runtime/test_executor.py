"""Two-phase operators: the life of an executor, repeatable ones, new addresses for them, workspaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core import handles
from acl_emu.core.dtypes import FLOAT
from acl_emu.runtime.executor import Executor, Plan, Workspace
from acl_emu.runtime.tensor import BoundOperand, Operand
from acl_emu.spec import In, ListOf, Out, operator
from tests.conftest import message
from tests.runtime.support import NO_HANDLE, allocate, create_stream, create_tensor, download, held, in_thread, smooth_l1, upload

not_eager = pytest.mark.parametrize("schedule", ["async", "lazy"], indirect=True)


# The life of an executor


def test_both_phases(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)


def test_executor_is_used_up(device: int) -> None:
    with smooth_l1() as call:
        assert call.run(None) == 0
        assert call.run(None) == acl.ACLNN_ERR_INNER == 561000
        assert "was destroyed" in message()
        assert acl.aclDestroyAclOpExecutor(call.executor) == 561000


def test_failed_phase_two_uses_the_executor_up(device: int) -> None:
    with smooth_l1() as call:
        assert aclnnop.aclnnSmoothL1LossBackward(None, 512, call.executor, None) == 161001
        assert "workspace must not be null" in message()
        assert call.run(None) == 561000


def test_null_executor(device: int) -> None:
    assert aclnnop.aclnnSmoothL1LossBackward(None, 0, None, None) == acl.ACLNN_ERR_PARAM_NULLPTR == 161001
    assert "executor must not be null" in message()


def test_foreign_executor(device: int) -> None:
    stream = create_stream()
    for handle, what in ((NO_HANDLE, "not a handle of this library"), (stream, "a living aclrtStream")):
        assert aclnnop.aclnnSmoothL1LossBackward(None, 0, handle, None) == 561000
        assert what in message()
    assert acl.aclrtDestroyStream(stream) == 0


def test_executor_of_another_operator(device: int) -> None:
    with smooth_l1() as call:
        assert aclnnop.aclnnLogSoftmaxBackward(None, 0, call.executor, None) == 561000
        assert "aclnnSmoothL1LossBackwardGetWorkspaceSize" in message()
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0


def test_executor_that_never_ran_is_destroyed(device: int) -> None:
    with smooth_l1() as call:
        assert acl.aclDestroyAclOpExecutor(call.executor) == 0
        assert acl.aclDestroyAclOpExecutor(call.executor) == 561000


def test_failed_phase_one_gives_no_executor(device: int) -> None:
    before = handles.census()
    assert aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(None, None, None, 0, 1.0, None) == (0, None, 161001)
    text = message()
    assert "EZ1001" in text
    assert "aclTensor" in text
    assert "gradOut" in text
    assert handles.census() == before


@pytest.mark.parametrize("position", range(4))
def test_dead_or_foreign_tensor_in_phase_one(device: int, position: int) -> None:
    with smooth_l1() as call:
        dead = create_tensor((4,), None)
        assert acl.aclDestroyTensor(dead) == 0
        for handle, what in ((dead, "destroyed"), (NO_HANDLE, "not a handle of this library"), (call.executor, "a living aclOpExecutor")):
            grad, x, y, out = [handle if i == position else tensor for i, tensor in enumerate(call.tensors)]
            assert aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(grad, x, y, 0, 1.0, out) == (0, None, 161002)
            text = message()
            assert what in text
            assert ("gradOut", "self", "target", "gradInput")[position] in text


def test_phase_one_needs_no_device(device: int) -> None:
    with smooth_l1(null=True) as call:
        grad, x, y, out = call.tensors

        def phase_one() -> tuple[int, int | None, int]:
            return aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(grad, x, y, 0, 1.0, out)

        _, executor, ret = in_thread(phase_one)
        assert ret == 0
        assert acl.aclDestroyAclOpExecutor(executor) == 0


def test_address_may_come_after_phase_one(schedule: str, device: int) -> None:
    with smooth_l1(null=True) as call:
        for tensor, address in zip(call.tensors, call.memory, strict=True):
            assert acl.aclSetRawTensorAddr(tensor, address) == 0
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)


def test_tensor_without_an_address(schedule: str, device: int) -> None:
    with smooth_l1(null=True) as call:
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 507015
        assert "has no address" in message()


@not_eager
def test_phase_two_takes_a_snapshot(schedule: str, device: int) -> None:
    """Tensors may be changed and destroyed as soon as phase two has returned."""
    with smooth_l1() as call:
        with held(None):
            assert call.run(None) == 0
            for tensor in call.tensors:
                assert acl.aclSetRawTensorAddr(tensor, 0x1000) == 0
                assert acl.aclInitTensor(tensor, (99, 99), acl.ACL_INT8, None, 5, acl.ACL_FORMAT_ND, (1,), 0x1000) == 0
                assert acl.aclDestroyTensor(tensor) == 0
            call.tensors = []
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)


def test_empty_tensors_need_nothing(schedule: str, device: int) -> None:
    tensors = [create_tensor((0, 3), None) for _ in range(4)]
    grad, x, y, out = tensors
    size, executor, ret = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(grad, x, y, 0, 1.0, out)
    assert (size, ret) == (0, 0)
    assert aclnnop.aclnnSmoothL1LossBackward(None, 0, executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    for tensor in tensors:
        assert acl.aclDestroyTensor(tensor) == 0


# Workspace: an operator that writes its input into the workspace and that into its output


def doubling(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], scratch: Any, address: int) -> None:
    room = scratch.array(address)
    room[...] = inputs[0].array()
    outputs[0].array()[...] = 2 * room


@operator()
def aclnnTestDouble(self: Annotated[Operand, In(FLOAT)], out: Annotated[Operand, Out(FLOAT)]) -> Plan:
    workspace = Workspace()
    scratch = workspace.add("copy", self.shape, np.dtype(np.float32))
    return Plan(lambda reads, writes, address: doubling(reads, writes, scratch, address), (self,), (out,), workspace)


@pytest.fixture
def pair(device: int) -> Iterator[tuple[int, int, int, int]]:
    """Two tensors of four numbers, and their memory."""
    memory = [upload(np.arange(4, dtype=np.float32)), upload(np.full(4, -7, np.float32))]
    tensors = [create_tensor((4,), address) for address in memory]
    yield tensors[0], tensors[1], memory[0], memory[1]
    for tensor in tensors:
        assert acl.aclDestroyTensor(tensor) == 0
    for address in memory:
        assert acl.aclrtFree(address) == 0


def test_workspace_is_used(schedule: str, pair: tuple[int, int, int, int]) -> None:
    x, out, _, result = pair
    size, executor, ret = aclnnTestDouble.get_workspace_size(x, out)
    assert ret == 0
    assert size >= 16
    workspace = upload(np.zeros(size // 4, np.float32))
    assert aclnnTestDouble.run(workspace, size, executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    assert download(result, 4).tolist() == [0, 2, 4, 6]
    assert download(workspace, 4).tolist() == [0, 1, 2, 3]
    assert acl.aclrtFree(workspace) == 0


@pytest.mark.parametrize(
    ("workspace", "missing", "code"),
    [(False, 0, 161001), (False, 512, 161001), (True, 1, 161002), (True, 512, 161002)],
    ids=["null", "null and zero", "too small", "zero"],
)
def test_workspace_missing_or_too_small(pair: tuple[int, int, int, int], workspace: bool, missing: int, code: int) -> None:
    x, out, _, result = pair
    size, executor, _ = aclnnTestDouble.get_workspace_size(x, out)
    address = allocate(size)
    assert aclnnTestDouble.run(address if workspace else None, size - missing, executor, None) == code
    text = message()
    assert "aclnnTestDouble" in text
    assert f"{size} bytes" in text
    assert acl.aclDestroyAclOpExecutor(executor) == 561000
    assert acl.aclrtSynchronizeStream(None) == 0
    assert (download(result, 4) == -7).all()
    assert acl.aclrtFree(address) == 0


def test_larger_workspace_is_fine(pair: tuple[int, int, int, int]) -> None:
    x, out, _, result = pair
    size, executor, _ = aclnnTestDouble.get_workspace_size(x, out)
    address = allocate(size * 2)
    assert aclnnTestDouble.run(address, size * 2, executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    assert download(result, 4).tolist() == [0, 2, 4, 6]
    assert acl.aclrtFree(address) == 0


def test_workspace_on_the_host(schedule: str, pair: tuple[int, int, int, int]) -> None:
    x, out, *_ = pair
    size, executor, _ = aclnnTestDouble.get_workspace_size(x, out)
    host = np.zeros(size, np.uint8)
    assert aclnnTestDouble.run(host.ctypes.data, size, executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 507015
    text = message()
    assert "workspace" in text
    assert "not device memory" in text


# Repeatable executors


def test_repeatable(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
        for _ in range(3):
            assert acl.aclrtMemset(call.memory[3], 16, 0, 16) == 0
            assert call.run(None) == 0
            assert acl.aclrtSynchronizeStream(None) == 0
            assert np.array_equal(call.out, call.expected)
        assert acl.aclDestroyAclOpExecutor(call.executor) == 0
        assert call.run(None) == 561000


def test_repeatable_survives_a_failed_phase_two(device: int) -> None:
    with smooth_l1() as call:
        assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
        assert aclnnop.aclnnSmoothL1LossBackward(None, 512, call.executor, None) == 161001
        assert call.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert acl.aclDestroyAclOpExecutor(call.executor) == 0


@not_eager
def test_repeatable_destroyed_while_queued(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        assert acl.aclSetAclOpExecutorRepeatable(call.executor) == 0
        with held(None):
            assert call.run(None) == 0
            assert acl.aclDestroyAclOpExecutor(call.executor) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(call.out, call.expected)


@pytest.mark.parametrize("function", [acl.aclSetAclOpExecutorRepeatable, acl.aclDestroyAclOpExecutor])
def test_executor_functions_misused(device: int, function: Callable[[int | None], int]) -> None:
    assert function(None) == acl.ACLNN_ERR_INNER_NULLPTR == 561103
    assert "executor must not be null" in message()
    with smooth_l1() as call:
        assert call.run(None) == 0
        tensor = call.tensors[0]
        for handle, what in ((call.executor, "destroyed"), (NO_HANDLE, "not a handle of this library"), (tensor, "a living aclTensor")):
            assert function(handle) == 561000
            assert what in message()


# New addresses: inputs are a list of two, a tensor, and one that may be null; outputs are a tensor and a list of two


def add_all(inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], _address: int) -> None:
    total = sum(operand.array() for operand in inputs)
    for weight, out in enumerate(outputs, 1):
        out.array()[...] = weight * total


@operator()
def aclnnTestAddAll(
    tensors: Annotated[list[Operand], ListOf(In(FLOAT))],
    bias: Annotated[Operand, In(FLOAT)],
    extra: Annotated[Operand | None, In(FLOAT, optional=True)],
    out: Annotated[Operand, Out(FLOAT)],
    others: Annotated[list[Operand], ListOf(Out(FLOAT))],
) -> Plan:
    return Plan(add_all, (*tensors, bias), (out, *others), Workspace())


class AddAll:
    """A repeatable executor of aclnnTestAddAll, and the objects it was made with."""

    def __init__(self) -> None:
        self.memory = [upload(np.full(1, value, np.float32)) for value in (1, 10, 100, 0, 0, 0)]
        self.tensors = [create_tensor((1,), address) for address in self.memory]
        first, second, self.bias, self.out, third, fourth = self.tensors
        self.inputs = acl.aclCreateTensorList([first, second])
        self.others = acl.aclCreateTensorList([third, fourth])
        _, self.executor, ret = aclnnTestAddAll.get_workspace_size(self.inputs, self.bias, None, self.out, self.others)
        assert ret == 0
        assert acl.aclSetAclOpExecutorRepeatable(self.executor) == 0

    def new(self, value: float) -> int:
        self.memory.append(upload(np.full(1, value, np.float32)))
        return self.memory[-1]

    def run(self) -> None:
        assert aclnnTestAddAll.run(None, 0, self.executor, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0

    def close(self) -> None:
        assert acl.aclDestroyAclOpExecutor(self.executor) == 0
        assert acl.aclDestroyTensorList(self.inputs) == 0
        assert acl.aclDestroyTensorList(self.others) == 0
        assert acl.aclDestroyTensor(self.bias) == 0
        assert acl.aclDestroyTensor(self.out) == 0
        for address in self.memory:
            assert acl.aclrtFree(address) == 0


@pytest.fixture
def add_call(device: int) -> Iterator[AddAll]:
    call = AddAll()
    yield call
    call.close()


def value_at(address: int) -> float:
    return float(download(address, 1)[0])


def test_executor_knows_its_parameters(add_call: AddAll) -> None:
    found = handles.find(add_call.executor, Executor)
    assert found is not None
    assert [type(entry).__name__ for entry in found.inputs] == ["list", "Operand", "NoneType"]
    assert [type(entry).__name__ for entry in found.outputs] == ["Operand", "list"]
    add_call.run()
    assert [value_at(address) for address in add_call.memory[3:]] == [111, 222, 333]


_INPUT_FORMS = [acl.aclSetInputTensorAddr, acl.AclSetInputTensorAddr, acl.aclSetTensorAddr, acl.AclSetTensorAddr]


@pytest.mark.parametrize("function", _INPUT_FORMS)
@pytest.mark.parametrize(("index", "expected"), [(0, 115), (1, 106), (2, 16)])
def test_new_input(add_call: AddAll, function: Callable[..., int], index: int, expected: float) -> None:
    """Members of a list count one by one."""
    assert function(add_call.executor, index, add_call.tensors[index], add_call.new(5)) == 0
    add_call.run()
    assert value_at(add_call.memory[3]) == expected
    assert acl.aclGetRawTensorAddr(add_call.tensors[index]) == (add_call.memory[-1], 0)


@pytest.mark.parametrize(
    ("function", "first"),
    [(acl.aclSetOutputTensorAddr, 0), (acl.AclSetOutputTensorAddr, 0), (acl.aclSetTensorAddr, 4), (acl.AclSetTensorAddr, 4)],
)
@pytest.mark.parametrize("which", range(3))
def test_new_output(add_call: AddAll, function: Callable[..., int], first: int, which: int) -> None:
    """For aclSetTensorAddr the outputs follow the inputs; a null input keeps its number."""
    assert function(add_call.executor, first + which, add_call.tensors[3 + which], add_call.new(0)) == 0
    add_call.run()
    assert value_at(add_call.memory[-1]) == 111 * (which + 1)
    assert value_at(add_call.memory[3 + which]) == 0


@pytest.mark.parametrize(
    "function",
    [
        acl.aclSetDynamicInputTensorAddr,
        acl.AclSetDynamicInputTensorAddr,
        acl.aclSetDynamicTensorAddr,
        acl.AclSetDynamicTensorAddr,
    ],
)
@pytest.mark.parametrize(("member", "expected"), [(0, 115), (1, 106)])
def test_new_member_of_an_input_list(add_call: AddAll, function: Callable[..., int], member: int, expected: float) -> None:
    assert function(add_call.executor, 0, member, add_call.inputs, add_call.new(5)) == 0
    add_call.run()
    assert value_at(add_call.memory[3]) == expected
    assert acl.aclGetRawTensorAddr(add_call.tensors[member]) == (add_call.memory[-1], 0)


@pytest.mark.parametrize(
    ("function", "parameter"),
    [
        (acl.aclSetDynamicOutputTensorAddr, 1),
        (acl.AclSetDynamicOutputTensorAddr, 1),
        (acl.aclSetDynamicTensorAddr, 4),
        (acl.AclSetDynamicTensorAddr, 4),
    ],
)
@pytest.mark.parametrize("member", range(2))
def test_new_member_of_an_output_list(add_call: AddAll, function: Callable[..., int], parameter: int, member: int) -> None:
    assert function(add_call.executor, parameter, member, add_call.others, add_call.new(0)) == 0
    add_call.run()
    assert value_at(add_call.memory[-1]) == 111 * (member + 2)
    assert value_at(add_call.memory[4 + member]) == 0


_FLAT = {
    "aclSetInputTensorAddr": (acl.aclSetInputTensorAddr, 4),
    "aclSetOutputTensorAddr": (acl.aclSetOutputTensorAddr, 3),
    "aclSetTensorAddr": (acl.aclSetTensorAddr, 7),
    "AclSetInputTensorAddr": (acl.AclSetInputTensorAddr, 4),
    "AclSetOutputTensorAddr": (acl.AclSetOutputTensorAddr, 3),
    "AclSetTensorAddr": (acl.AclSetTensorAddr, 7),
}


@pytest.mark.parametrize("name", _FLAT)
def test_flat_forms_misused(add_call: AddAll, name: str) -> None:
    function, count = _FLAT[name]
    tensor, address = add_call.bias, add_call.new(0)
    assert function(None, 0, tensor, address) == 561103
    assert acl.aclGetRawTensorAddr(tensor) == (address, 0)  # written before the executor is looked at
    assert function(add_call.executor, 0, None, address) == 561103
    assert function(add_call.executor, 0, NO_HANDLE, address) == 561103
    assert function(NO_HANDLE, 0, tensor, address) == 561000
    for index in (count, -1):
        assert function(add_call.executor, index, tensor, address) == 161002
        assert f"index is {index}" in message()


@pytest.mark.parametrize("function", [acl.aclSetInputTensorAddr, acl.aclSetTensorAddr])
def test_tensor_that_was_null_in_phase_one(add_call: AddAll, function: Callable[..., int]) -> None:
    assert function(add_call.executor, 3, add_call.bias, add_call.memory[2]) == 161002
    assert "was null in phase one" in message()


_DYNAMIC = {
    "aclSetDynamicInputTensorAddr": (acl.aclSetDynamicInputTensorAddr, 0, 3),
    "aclSetDynamicOutputTensorAddr": (acl.aclSetDynamicOutputTensorAddr, 1, 2),
    "aclSetDynamicTensorAddr": (acl.aclSetDynamicTensorAddr, 0, 5),
    "AclSetDynamicInputTensorAddr": (acl.AclSetDynamicInputTensorAddr, 0, 3),
    "AclSetDynamicOutputTensorAddr": (acl.AclSetDynamicOutputTensorAddr, 1, 2),
    "AclSetDynamicTensorAddr": (acl.AclSetDynamicTensorAddr, 0, 5),
}


@pytest.mark.parametrize("name", _DYNAMIC)
def test_dynamic_forms_misused(add_call: AddAll, name: str) -> None:
    function, parameter, count = _DYNAMIC[name]
    tensors, address = (add_call.inputs, add_call.new(0)) if parameter == 0 else (add_call.others, add_call.new(0))
    member = add_call.tensors[0 if parameter == 0 else 4]
    assert function(None, parameter, 0, tensors, address) == 561103
    assert acl.aclGetRawTensorAddr(member) == (address, 0)
    assert function(add_call.executor, parameter, 0, None, address) == 561103
    assert function(add_call.executor, parameter, 0, NO_HANDLE, address) == 561103
    assert function(NO_HANDLE, parameter, 0, tensors, address) == 561000
    assert function(add_call.executor, parameter, 2, tensors, address) == 161002
    assert "relativeIndex is 2" in message()
    assert function(add_call.executor, count, 0, tensors, address) == 161002
    assert f"irIndex is {count}" in message()


def test_dynamic_form_on_a_parameter_that_was_null(add_call: AddAll) -> None:
    assert acl.aclSetDynamicInputTensorAddr(add_call.executor, 2, 0, add_call.inputs, add_call.memory[0]) == 161002
    assert "was null in phase one" in message()


def test_relative_index_beyond_the_parameter(add_call: AddAll) -> None:
    """The list given is longer than the parameter that the number names."""
    assert acl.aclSetDynamicInputTensorAddr(add_call.executor, 1, 1, add_call.inputs, add_call.memory[0]) == 161002
    assert "relativeIndex is 1" in message()


@not_eager
def test_new_address_does_not_reach_what_is_queued(schedule: str, device: int) -> None:
    call = AddAll()
    with held(None):
        assert aclnnTestAddAll.run(None, 0, call.executor, None) == 0
        assert acl.aclSetInputTensorAddr(call.executor, 0, call.tensors[0], call.new(1000)) == 0
        assert acl.aclSetOutputTensorAddr(call.executor, 0, call.out, call.new(0)) == 0
        assert aclnnTestAddAll.run(None, 0, call.executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    assert value_at(call.memory[3]) == 111
    assert value_at(call.memory[-1]) == 1110
    call.close()
