"""``acl_emu.call``: an operator on numpy arrays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Annotated

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
import aclnnop.registry
from acl_emu.api import numpy_call
from acl_emu.core import handles
from acl_emu.core.dtypes import FLOAT
from acl_emu.runtime import context
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import HandleKind, In, ListOf, Operand, Out, Plan, direct, operator
from acl_emu.spec.kinds import (
    BoolArrayIn,
    FloatArrayIn,
    IntArrayIn,
    ScalarIn,
)
from tests.conftest import used_bytes

bfloat16 = ml_dtypes.bfloat16
Sums = Annotated[Operand, Out(FLOAT)]


@operator()
def aclnnEverything(
    tensors: Annotated[list[Operand], ListOf(In())],
    scalar: ScalarIn,
    ints: IntArrayIn,
    floats: FloatArrayIn,
    bools: BoolArrayIn,
    scalars: Annotated[list[Scalar], ListOf(HandleKind(Scalar))],
    sums: Sums,
    copies: Annotated[list[Operand], ListOf(Out(), like="tensors")],
) -> Plan:
    """An operator with a parameter of every kind: totals of what it was given, and copies of the tensors."""
    numbers = [
        float(scalar.value),
        sum(ints.values),
        sum(floats.values),
        sum(bools.values),
        sum(float(member.value) for member in scalars),
    ]

    def kernel(*arrays: np.ndarray) -> None:
        count = len(tensors)
        arrays[count][...] = [*numbers, sum(float(array.sum()) for array in arrays[:count])]
        for source, target in zip(arrays[:count], arrays[count + 1 :], strict=True):
            target[...] = source

    return direct(kernel, reads=tensors, writes=(sums, *copies), scratch={})


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an operator with a parameter of every kind."""
    monkeypatch.setitem(aclnnop.registry.MODULES, "aclnnEverything", __name__)
    return "aclnnEverything"


@pytest.fixture
def clean() -> Iterator[None]:
    """Nothing may be left behind, and no device may be set that was not."""
    before = handles.census(), used_bytes(), context.find_current()
    yield
    assert (handles.census(), used_bytes(), context.find_current()) == before


def smooth_l1(x: np.ndarray, out: np.ndarray, beta: float = 1.0) -> np.ndarray:
    return acl.call("aclnnSmoothL1LossBackward", np.ones_like(x), x, np.zeros_like(x), 2, beta, out)


def test_fills_and_returns_the_output(clean: None) -> None:
    out = np.empty(4, np.float32)
    result = smooth_l1(np.array([-2, -0.5, 0.5, 2], np.float32), out)
    assert result is out
    np.testing.assert_array_equal(out, [-1, -0.5, 0.5, 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, bfloat16])
def test_every_type(dtype: type, clean: None) -> None:
    out = smooth_l1(np.array([-2, -0.5, 0.5, 2], dtype), np.empty(4, dtype))
    assert out.dtype == dtype
    np.testing.assert_array_equal(out.astype(np.float32), [-1, -0.5, 0.5, 1])


def test_by_name(clean: None) -> None:
    x = np.array([3, 0.25], np.float32)
    out = acl.call("aclnnSmoothL1LossBackward", gradOut=x, self=x, target=x - x, reduction=2, beta=1, gradInput=np.empty_like(x))
    np.testing.assert_array_equal(out, [3, 0.0625])


def test_strided_arrays(clean: None) -> None:
    """Transposed, stepped, reversed and broadcast ones, and an output with gaps that stay as they are."""
    x = np.arange(24, dtype=np.float32).reshape(4, 6) / 10
    frame = np.full((8, 12), 9, np.float32)
    result = acl.call("aclnnSmoothL1LossBackward", np.broadcast_to(np.float32(2), (4, 6)), x.T[::-1].T, x[:, :1], 0, 10.0, frame[1::2, ::2])
    np.testing.assert_allclose(frame[1::2, ::2], 2 * (x[:, ::-1] - x[:, :1]) / 10, rtol=1e-6)
    assert result.base is frame
    assert (frame[::2] == 9).all()
    assert (frame[:, 1::2] == 9).all()


def test_output_with_a_negative_stride(clean: None) -> None:
    out = np.zeros(3, np.float32)
    smooth_l1(np.array([0.1, 0.2, 0.3], np.float32), out[::-1])
    np.testing.assert_array_equal(out, np.float32([0.3, 0.2, 0.1]))


def test_zero_dimensions_and_empty(clean: None) -> None:
    assert smooth_l1(np.array(0.5, np.float32), np.empty((), np.float32)) == 0.5
    assert smooth_l1(np.empty((2, 0), np.float32), np.empty((2, 0), np.float32)).shape == (2, 0)


def test_an_array_may_be_input_and_output(clean: None) -> None:
    x = np.array([0.5, 3], np.float32)
    smooth_l1(x, x)
    np.testing.assert_array_equal(x, [0.5, 1])


def test_several_outputs_and_optional_inputs(clean: None) -> None:
    size = 128
    matrix = np.zeros((size, 4), bfloat16)
    outputs = np.ones_like(matrix), np.ones_like(matrix)
    results = acl.call(
        "aclnnFusedLinearCrossEntropyLossGrad",
        *(np.ones(size, np.float32), matrix, matrix, np.zeros(size // 8, np.uint8), np.zeros(size, np.int64)),
        *(0.0, None, None, np.zeros((size, size), np.float32), *outputs),
    )
    assert isinstance(results, tuple)
    for result, output in zip(results, outputs, strict=True):
        assert result is output
        assert not result.any()


def test_lists_arrays_and_scalars(everything: str, clean: None) -> None:
    tensors = [np.arange(3, dtype=np.float32), np.full((2, 2), 0.5, np.float16)]
    copies = [np.empty_like(tensor) for tensor in tensors]
    sums, *copied = acl.call(
        everything, tensors, 2.5, [1, 2], (0.5, 0.25), [True, False], [1, True, np.float16(0.5), 2.0], np.empty(6, np.float32), copies
    )
    np.testing.assert_array_equal(sums, [2.5, 3, 0.75, 1, 4.5, 5])
    for tensor, copy in zip(tensors, copied, strict=True):
        np.testing.assert_array_equal(tensor, copy)


def test_refused_in_phase_one(clean: None) -> None:
    x = np.zeros(2, np.float32)
    with pytest.raises(
        acl.AclCallError, match=r"GetWorkspaceSize returned 161002: .*AclNN_Parameter_Error\(EZ1001\): .*beta is -1"
    ) as refusal:
        smooth_l1(x, x, beta=-1)
    assert refusal.value.code == acl.ACLNN_ERR_PARAM_INVALID


def test_null_is_none(clean: None) -> None:
    x = np.zeros(2, np.float32)
    with pytest.raises(acl.AclCallError, match=r"161001.*target") as refusal:
        acl.call("aclnnSmoothL1LossBackward", x, x, None, 0, 1.0, x)
    assert refusal.value.code == acl.ACLNN_ERR_PARAM_NULLPTR


def test_a_fault_on_the_device(clean: None) -> None:
    one, row, out = np.ones(1, np.float32), np.zeros((1, 2), np.float32), np.full((1, 2), 7, np.float32)
    with pytest.raises(acl.AclCallError, match=r"(?s)aclrtSynchronizeStream returned 507015: .*target\[0\] is 5") as refusal:
        acl.call("aclnnCrossEntropyLossGrad", one, row, one.astype(np.int64) * 5, None, None, None, "sum", -1, 0.0, 0.0, out)
    assert refusal.value.code == acl.ACL_ERROR_RT_AICORE_EXCEPTION
    assert (out == 7).all()


def test_the_message_is_about_this_call(device: int, clean: None) -> None:
    assert acl.aclrtSetDevice(-7) != 0
    x = np.zeros(2, np.float32)
    with pytest.raises(acl.AclCallError, match="beta is -1") as refusal:
        smooth_l1(x, x, beta=-1)
    assert "-7" not in str(refusal.value)


def test_out_of_memory_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, clean: None) -> None:
    """The third allocation is the workspace's: inputs and output fit, it does not."""
    sizes: list[int] = []
    real = numpy_call.api.aclrtMalloc

    def limited(size: int, policy: int) -> tuple[int | None, int]:
        sizes.append(size)
        return real(size, policy) if len(sizes) < 5 else real(1 << 50, policy)

    monkeypatch.setattr(numpy_call.api, "aclrtMalloc", limited)
    x = np.zeros(8, np.float16)
    with pytest.raises(acl.AclCallError, match="aclrtMalloc returned 207001") as refusal:
        smooth_l1(x, x)
    assert refusal.value.code == acl.ACL_ERROR_RT_MEMORY_ALLOCATION
    assert len(sizes) == 5


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("aclnnNoSuchThing", 1), AttributeError, "aclnnNoSuchThing is not emulated"),
        (("aclnnSmoothL1LossBackward", 1), TypeError, "missing a required argument"),
        (("aclnnSmoothL1LossBackward", 1.0, 1.0, 1.0, 0, 1.0, [0.0]), TypeError, "gradInput is an output"),
        (("aclnnSmoothL1LossBackward", 1.0, 1.0, 1.0, "mean", 1.0, np.zeros(1)), TypeError, "reduction must be an integer"),
        (("aclnnSmoothL1LossBackward", np.array(["a"]), 1.0, 1.0, 0, 1.0, np.zeros(1)), TypeError, "no aclDataType"),
    ],
    ids=str,
)
def test_misuse_in_python(arguments: tuple, error: type[Exception], text: str, clean: None) -> None:
    with pytest.raises(error, match=text):
        acl.call(*arguments)


def test_keeps_the_device_of_the_thread(device: int, clean: None) -> None:
    smooth_l1(np.zeros(2, np.float32), np.zeros(2, np.float32))
    assert acl.aclrtGetDevice() == (0, 0)


def test_keeps_the_context_of_the_thread(device: int) -> None:
    created, status = acl.aclrtCreateContext(0)
    assert status == 0
    smooth_l1(np.zeros(2, np.float32), np.zeros(2, np.float32))
    assert acl.aclrtGetCurrentContext() == (created, 0)
    assert acl.aclrtDestroyContext(created) == 0
    assert acl.aclrtSetDevice(0) == 0
    assert acl.aclrtResetDevice(0) == 0


def test_threads_without_a_device(clean: None) -> None:
    results: list[float] = []

    def work(start: float) -> None:
        for step in range(20):
            x = np.full(5, start + step / 64, np.float32)
            results.append(float(smooth_l1(x, np.empty_like(x), beta=8.0)[0]) * 8 - x[0])

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [0.0] * 80


def test_host_array(device: int) -> None:
    address, status = acl.aclrtMallocHost(24)
    assert status == 0
    view = acl.host_array(address, (2, 3), np.float32)
    view[...] = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(acl.host_array(address, (6,), np.float32), range(6))
    assert acl.aclrtFreeHost(address) == 0
