"""Kernels that one function in C does as a whole: the same as numpy's, at sizes that come in many parts, and on any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu.core import observe
from acl_emu.engine.calls import Call
from tests.conftest import run_python
from tests.native.support import engine_is
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, rounded, spacing
from tests.operators.case import Case, numbers
from tests.operators.examples import emulating, examples

Array = npt.NDArray[Any]
NONE, MEAN, SUM = 0, 1, 2


def targets(shape: tuple[int, ...], classes: int, seed: int = 0, beyond: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-beyond, classes + beyond, shape)


def nll(shape: tuple[int, ...], dtype: np.dtype[Any], reduction: int = NONE) -> Case:
    """With targets that are ignored, and some that are no classes."""
    places = shape[:1] + shape[2:]
    return Case(
        "aclnnNLLLoss" if len(shape) == 2 else "aclnnNLLLoss2d",
        {
            "self": numbers(shape, dtype, 1),
            "target": targets(places, shape[1], beyond=1),
            "weight": np.abs(numbers(shape[1:2], dtype, 2)),
            "reduction": reduction,
            "ignoreIndex": 1,
            "out": numbers(places if reduction == NONE else (1,), dtype, 3),
            "totalWeightOut": numbers((1,), dtype, 4),
        },
    )


def nll_slope(shape: tuple[int, ...], dtype: np.dtype[Any], reduction: int = NONE) -> Case:
    places = shape[:1] + shape[2:]
    return Case(
        "aclnnNLLLossBackward" if len(shape) == 2 else "aclnnNLLLoss2dBackward",
        {
            "gradOutput": numbers(places if reduction == NONE else (1,), dtype, 1),
            "self": numbers(shape, dtype, 2),
            "target": targets(places, shape[1]),
            "weight": numbers(shape[1:2], dtype, 3),
            "reduction": reduction,
            "ignoreIndex": 1,
            "totalWeight": np.array([3.5], dtype),
            "out": numbers(shape, dtype, 4),
        },
    )


def entropy(rows: int, classes: int, dtype: np.dtype[Any], reduction: str, smoothing: float = 0, weighted: bool = False) -> Case:
    return Case(
        "aclnnCrossEntropyLoss",
        {
            "input": numbers((rows, classes), dtype, 1, 3),
            "target": targets((rows,), classes),
            "weightOptional": np.abs(numbers((classes,), FLOAT, 2)) if weighted else None,
            "reductionOptional": reduction,
            "ignoreIndex": 1,
            "labelSmoothing": smoothing,
            "lseSquareScaleForZloss": 0.0,
            "returnZloss": False,
            "lossOut": numbers((rows,) if reduction == "none" else (1,), dtype, 3),
            "logProbOut": numbers((rows, classes), dtype, 4),
            "zlossOut": numbers((1,), dtype, 5),
            "lseForZlossOut": numbers((rows,), dtype, 6),
        },
    )


def entropy_slope(rows: int, classes: int, dtype: np.dtype[Any], reduction: str, weighted: bool = False) -> Case:
    return Case(
        "aclnnCrossEntropyLossGrad",
        {
            "gradLoss": numbers((rows,) if reduction == "none" else (1,), dtype, 1),
            "logProb": -np.abs(numbers((rows, classes), dtype, 2)),
            "target": targets((rows,), classes),
            "weightOptional": np.abs(numbers((classes,), FLOAT, 3)) if weighted else None,
            "gradZlossOptional": None,
            "lseForZlossOptional": None,
            "reductionOptional": reduction,
            "ignoreIndex": 1,
            "labelSmoothing": 0.0,
            "lseSquareScaleForZloss": 0.0,
            "out": numbers((rows, classes), dtype, 4),
        },
    )


def product(a: tuple[int, ...], b: tuple[int, ...], dtype: np.dtype[Any], mode: int = 0) -> Case:
    """Sums are exact, of integers or of a single term: nothing depends on the order."""
    values = [numbers(shape, dtype, seed) for seed, shape in enumerate((a, b))]
    if a[-1] > 1:
        values = [np.rint(8 * each.astype(np.float64)).astype(dtype) for each in values]
    out = np.matmul(*(each.astype(np.float32) for each in values))
    arguments = {"self": values[0], "mat2": values[1], "out": np.full(out.shape, 7, dtype)}
    return Case("aclnnMatmul", {**arguments, "cubeMathType": mode if dtype == FLOAT else 0})


def sum_with_product(dtype: np.dtype[Any], *, inplace: bool) -> Case:
    rows, inner, columns = 300, 40, 290
    a, b, added = (np.rint(8 * numbers(shape, FLOAT, 1)).astype(dtype) for shape in ((rows, inner), (inner, columns), (rows, columns)))
    outputs = {"selfRef": added} if inplace else {"self": added[:1], "out": np.full((rows, columns), 7, dtype)}
    factors = {"mat1": a, "mat2": b, "beta": 0.3, "alpha": 0.7, "cubeMathType": 0}
    return Case("aclnnInplaceAddmm" if inplace else "aclnnAddmm", {**outputs, **factors})


def multilabel(rows: int, classes: int, dtype: np.dtype[Any], reduction: int = NONE) -> Case:
    labels = targets((rows, classes), classes, 5, beyond=2)
    labels[:, 7 % classes :] = -1
    return Case(
        "aclnnMultilabelMarginLoss",
        {
            "self": numbers((rows, classes), dtype, 1),
            "target": labels,
            "reduction": reduction,
            "out": numbers((rows,) if reduction == NONE else (), dtype, 2),
            "isTarget": numbers((rows, classes), dtype, 3),
        },
    )


def sequences(dtype: np.dtype[Any], time: int = 60, batch: int = 5, classes: int = 30, longest: int = 12) -> dict[str, Any]:
    logits = numbers((time, batch, classes), FLOAT, 1).astype(np.float64)
    labels = targets((batch, longest), classes, 2)
    labels[:, 3] = labels[:, 2]
    return {
        "logProbs": (logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))).astype(dtype),
        "targets": labels,
        "inputLengths": [time, time - 7, 3, 0, time],
        "targetLengths": [longest, longest - 2, longest, 1, 0],
        "blank": 4,
        "zeroInfinity": False,
    }


def ctc(dtype: np.dtype[Any], *, zero: bool = False) -> Case:
    given = sequences(dtype) | {"zeroInfinity": zero}
    outs = {"negLogLikelihoodOut": numbers((5,), dtype, 3), "logAlphaOut": numbers((5, 60, 32), dtype, 4)}
    return Case("aclnnCtcLoss", {**given, **outs})


def ctc_slope(dtype: np.dtype[Any], *, zero: bool = False) -> Case:
    loss, scores = ctc(dtype, zero=zero).results()
    arguments = {"gradOut": numbers((5,), dtype, 5), **sequences(dtype), "negLogLikelihood": loss, "logAlpha": scores}
    return Case("aclnnCtcLossBackward", {**arguments, "zeroInfinity": zero, "out": numbers((60, 5, 30), dtype, 6)})


def chamfer(dtype: np.dtype[Any], first: int = 1500, second: int = 1100) -> Case:
    return Case(
        "aclnnChamferDistanceBackward",
        {
            "xyz1": numbers((3, first, 2), dtype, 1),
            "xyz2": numbers((3, second, 2), dtype, 2),
            "idx1": targets((3, first), second, 3, beyond=2).astype(np.int32),
            "idx2": targets((3, second), first, 4, beyond=2).astype(np.int32),
            "gradDist1": numbers((3, first), dtype, 5),
            "gradDist2": numbers((3, second), dtype, 6),
            "gradXyz1": numbers((3, first, 2), dtype, 7),
            "gradXyz2": numbers((3, second, 2), dtype, 8),
        },
    )


CASES: dict[str, Callable[[np.dtype[Any]], Case]] = {
    **{f"rows {mode}": lambda dtype, mode=mode: nll((3001, 17), dtype, mode) for mode in (NONE, MEAN, SUM)},
    **{f"images {mode}": lambda dtype, mode=mode: nll((3, 9, 40, 31), dtype, mode) for mode in (NONE, MEAN, SUM)},
    **{f"slopes of rows {mode}": lambda dtype, mode=mode: nll_slope((1303, 37), dtype, mode) for mode in (NONE, MEAN)},
    **{f"slopes of images {mode}": lambda dtype, mode=mode: nll_slope((3, 9, 40, 31), dtype, mode) for mode in (NONE, MEAN)},
    **{
        f"entropy {mode} {smoothing} {weighted}": lambda dtype, how=(mode, smoothing, weighted): entropy(1303, 37, dtype, *how)
        for mode, smoothing, weighted in (("none", 0, True), ("mean", 0.1, True), ("mean", 0.1, False), ("sum", 0, False))
    },
    **{
        f"slopes of entropy {mode} {weighted}": lambda dtype, how=(mode, weighted): entropy_slope(1303, 37, dtype, *how)
        for mode, weighted in (("none", False), ("mean", True), ("sum", False))
    },
    **{
        f"product {a} {b}": lambda dtype, a=a, b=b: product(a, b, dtype)
        for a, b in (((3, 1, 40, 50), (2, 50, 60)), ((50,), (2, 50, 60)), ((2, 40, 50), (50,)), ((70,), (70,)), ((300, 64), (64, 700)))
    },
    **{f"product {mode}": lambda dtype, mode=mode: product((300, 1), (1, 500), dtype, mode) for mode in (1, 2, 3)},
    **{f"sum with product {inplace}": lambda dtype, inplace=inplace: sum_with_product(dtype, inplace=inplace) for inplace in (False, True)},
    **{f"labels {mode}": lambda dtype, mode=mode: multilabel(37, 1100, dtype, mode) for mode in (NONE, MEAN, SUM)},
    "few labels": lambda dtype: multilabel(5, 3, dtype),
    **{f"ctc {zero}": lambda dtype, zero=zero: ctc(dtype, zero=zero) for zero in (False, True)},
    **{f"slopes of ctc {zero}": lambda dtype, zero=zero: ctc_slope(dtype, zero=zero) for zero in (False, True)},
    "points": lambda dtype: chamfer(FLOAT if dtype == BF16 else dtype),
}


def assert_near(found: Array, expected: Array) -> None:
    """Beside the typical number: sums are taken in another order, functions are others; a half type may be rounded to the number beside."""
    assert found.dtype == expected.dtype
    one, other = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(other)
    np.testing.assert_array_equal(one[~finite], other[~finite])
    if found.dtype not in FLOATS:
        np.testing.assert_array_equal(one, other)
        return
    allowed = 4 * spacing(np.maximum(np.abs(other[finite]), 1), FLOAT)
    if found.dtype != FLOAT:
        allowed = allowed + spacing(other[finite], found.dtype)
    assert (np.abs(one[finite] - other[finite]) <= allowed).all()


@pytest.mark.parametrize("layout", [0, 3])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_both_ways(name: str, dtype: np.dtype[Any], layout: int, device: int) -> None:
    case = CASES[name](dtype)
    native = case.results(layout)
    with engine_is(None):
        plain = case.results(layout)
    for found, expected in zip(native, plain, strict=True):
        assert_near(found, expected)


def left_to_numpy(case: Case) -> list[bool]:
    """Of each kernel that a function is asked to do, whether it left the work to numpy."""
    left: list[bool] = []
    original = Call.__call__

    def watched(self: Call, *bound: Any) -> None:
        left.append(False)
        patch.setattr(Call, "in_numpy", lambda *_: left.__setitem__(-1, True))
        original(self, *bound)

    with pytest.MonkeyPatch.context() as patch, observe.watched(observe.Tool()):  # what is watched is run by Python
        patch.setattr(Call, "__call__", watched)
        case.results()
    return left


@pytest.mark.parametrize("name", CASES)
def test_all_of_them_are_done_by_a_function(name: str, device: int) -> None:
    assert left_to_numpy(CASES[name](FLOAT)) == [False]


IN_STEPS = (
    *("aclnnAddmm", "aclnnCrossEntropyLoss", "aclnnCrossEntropyLossGrad", "aclnnCrossEntropySumExpAndIndexLogit"),
    *("aclnnFusedCrossEntropyLossWithMaxSum", "aclnnFusedLinearCrossEntropyLossGrad", "aclnnFusedLinearOnlineMaxSum"),
    *("aclnnInplaceAddmm", "aclnnMatmul", "aclnnMm"),
)


@pytest.mark.parametrize("operator", IN_STEPS)
def test_rows_of_steps_are_done_in_c(operator: str, device: int) -> None:
    for shown in examples(operator):
        smoothed = operator == "aclnnCrossEntropyLossGrad" and shown.case.arguments["labelSmoothing"]  # which numpy computes
        with emulating(shown.chip):
            assert left_to_numpy(shown.case) == ([] if smoothed else [False])


STREAMED = [(3, 40, 211, 97), (2500, 1031), (3, 1000003)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", STREAMED, ids=str)
def test_large_gradients_go_past_the_caches(shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> None:
    """Lines of memory that begin and end anywhere; more classes than half as many bits can count."""
    case = nll_slope(shape, dtype)
    grad, target, weight = (case.arguments[name] for name in ("gradOutput", "target", "weight"))
    values = rounded(-weight.astype(np.float64)[target] * grad.astype(np.float64), dtype)
    out = case.run(0).astype(np.float64)
    counted = (target != 1) & (values != 0)
    assert (np.count_nonzero(out, axis=1) == counted).all()
    found = np.take_along_axis(out, np.expand_dims(target, 1), 1).squeeze(1)
    np.testing.assert_array_equal(found, np.where(target == 1, 0, values))


@pytest.mark.parametrize("index", [np.int32, np.uint8], ids=lambda index: index.__name__)
def test_narrow_targets(index: Any, device: int) -> None:
    for make in (nll, nll_slope):
        wide = make((700, 11), FLOAT)
        wide.arguments["target"] = targets((700,), 11)
        for one, other in zip(wide.results(), wide.but(target=wide.arguments["target"].astype(index)).results(), strict=True):
            np.testing.assert_array_equal(one, other)


_DEVICE = """
import acl_emu as acl, aclnnop, numpy as np
acl.aclrtSetDevice(0)
stream, _ = acl.aclrtCreateStream()
memory, _ = acl.aclrtMalloc(1 << 22, 0)
CODES = {"float32": acl.ACL_FLOAT, "float16": acl.ACL_FLOAT16, "int64": acl.ACL_INT64, "uint8": acl.ACL_UINT8}

def tensor(array, offset, upload=True):
    if upload:
        acl.aclrtMemcpy(memory + offset, array.nbytes, array, array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    return acl.aclCreateTensor(array.shape, CODES[array.dtype.name], None, 0, acl.ACL_FORMAT_ND, array.shape, memory + offset)

def call(name, *arguments, workspace=None):
    size, executor, status = getattr(aclnnop, name + "GetWorkspaceSize")(*arguments)
    assert not status and not getattr(aclnnop, name)(workspace, size, executor, stream)
    return acl.aclrtSynchronizeStream(stream)

def held(array, offset):
    acl.aclrtMemcpy(array, array.nbytes, memory + offset, array.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    return array
"""

_SHARED = """
x, weight = np.arange(40, dtype=np.float32).reshape(10, 4), np.ones(4, np.float32)
target, room = np.array([1, 0, 3, 2, 3, 0, 1, 2, 0, 3]), np.empty(10, np.float32)
expected = -x[np.arange(10), target]
for first, out in ((0, 12288), (0, 20), (1, 12288)):
    inputs = tensor(x, first), tensor(target, 4096), tensor(weight, 8192)
    assert call("aclnnNLLLoss", *inputs, 0, -100, tensor(room, out, upload=False), tensor(np.zeros(1, np.float32), 16384)) == 0
    print((held(room, out) == expected).all())
"""


def test_memory_that_is_shared_or_not_aligned() -> None:
    """Losses are written where the inputs lie only when all of them are known."""
    run = run_python(_DEVICE + _SHARED)
    assert run.stdout.split() == ["True"] * 3, run.stderr


_FAULTS = """
for shape in ((1303, 17), (3, 17, 40, 31)):
    places = shape[:1] + shape[2:]
    for bad in (-1, 17, 2**40):
        target, out = np.zeros(places, np.int64), np.full(shape, 7, np.float32)
        target.reshape(-1)[1200] = bad
        inputs = tensor(np.ones(places, np.float32), 0), tensor(out, 1 << 16, upload=False), tensor(target, 1 << 20)
        others = tensor(np.ones(17, np.float32), 1 << 15), 0, -100, tensor(np.ones(1, np.float32), 1 << 14)
        name = "aclnnNLLLossBackward" if len(shape) == 2 else "aclnnNLLLoss2dBackward"
        status = call(name, *inputs, *others, tensor(out, 1 << 21))
        named = f"is {bad}, outside [0, 16]" in acl.aclGetRecentErrMsg()
        print(status == acl.ACL_ERROR_RT_AICORE_EXCEPTION, named, (held(out, 1 << 21) == 7).all())
"""


def test_a_fault_leaves_the_gradient_alone() -> None:
    run = run_python(_DEVICE + _FAULTS, ACL_EMU_SOC="Ascend950PR_9589")  # elsewhere such a target counts for nothing
    assert run.stdout.split() == ["True"] * 18, run.stdout + run.stderr


_AGAIN = """
from acl_emu.core import observe
from acl_emu.engine.calls import Call
asked, original = [], Call.__call__
def watched(self, *bound):
    asked.append(True)
    original(self, *bound)
Call.__call__ = watched

a, b = np.arange(600).reshape(20, 30).astype(np.float16) % 7, np.arange(1200).reshape(30, 40).astype(np.float16) % 5
room, workspace = np.empty((20, 40), np.float16), memory + (1 << 20)
product = tensor(a, 0), tensor(b, 8192), tensor(room, 16384, upload=False), 0
x, target = np.arange(80, dtype=np.float32).reshape(20, 4) % 3, np.arange(20) % 4
log = x - x.max(1, keepdims=True) - np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True))
losses, others = np.empty(20, np.float32), [tensor(x[:1, :1], offset, upload=False) for offset in (98304, 102400)]
outs = tensor(losses, 81920, upload=False), tensor(x, 90112, upload=False)
entropy = tensor(x, 65536), tensor(target, 73728), None, "none", -100, 0.0, 0.0, False, *outs, *others
for _ in range(5):
    assert call("aclnnMatmul", *product, workspace=workspace) == call("aclnnCrossEntropyLoss", *entropy) == 0
    print((held(room, 16384) == a @ b).all(), np.allclose(held(losses, 81920), -log[np.arange(20), target]))
    acl.aclrtMemset(memory + 16384, 1600, 0, 1600)
    acl.aclrtMemset(memory + 81920, 80, 0, 80)
print(not asked)
target[7] = 4
acl.aclrtMemcpy(memory + 73728, 160, target, 160, acl.ACL_MEMCPY_HOST_TO_DEVICE)
print(call("aclnnCrossEntropyLoss", *entropy) == acl.ACL_ERROR_RT_AICORE_EXCEPTION, "target[7] is 4" in acl.aclGetRecentErrMsg())
print((held(losses, 81920) == 0).all(), len(asked) == 1)
"""


def test_calls_that_come_again_need_no_python() -> None:
    """Until one of them goes wrong: then numpy has the words, and nothing has been written."""
    run = run_python(_DEVICE + _AGAIN)
    assert run.stdout.split() == ["True"] * 15, run.stdout + run.stderr


_NO_WORKSPACE = """
a, target, row, mask = np.ones((16, 16), np.float16), np.zeros(16, np.int64), np.empty(16, np.float32), np.empty(2, np.uint8)
inputs = tensor(a, 0), tensor(a, 4096), tensor(target, 8192), 0, 15
rows = [tensor(row, offset, upload=False) for offset in (12288, 16384, 20480)]
outputs = *rows, tensor(mask, 24576, upload=False), tensor(target, 28672, upload=False), None
for workspace in (memory + (1 << 20), memory + (1 << 20), memory + (1 << 20), 4096):
    status = call("aclnnFusedLinearOnlineMaxSum", *inputs, *outputs, workspace=workspace)
    print(status == (0 if workspace > 4096 else acl.ACL_ERROR_RT_AICORE_EXCEPTION))
print("workspace" in acl.aclGetRecentErrMsg())
"""


def test_a_workspace_that_is_not_there() -> None:
    run = run_python(_DEVICE + _NO_WORKSPACE)
    assert run.stdout.split() == ["True"] * 5, run.stdout + run.stderr


_DIGESTS = """
import hashlib, ml_dtypes, numpy as np, acl_emu as acl
from tests.native.test_calls import CASES
acl.aclrtSetDevice(0)
for dtype in (np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)):
    for name, make in CASES.items():
        print(name, *(hashlib.sha256(array.tobytes()).hexdigest() for array in make(dtype).results()))
"""


def test_numbers_of_threads_agree() -> None:
    runs = [run_python(_DIGESTS, ACL_EMU_THREADS=count) for count in ("1", "2", "3")]
    assert all(run.returncode == 0 for run in runs), [run.stderr for run in runs]
    assert runs[0].stdout == runs[1].stdout == runs[2].stdout


def test_empty_sums(device: int) -> None:
    for mode, expected in ((MEAN, np.nan), (SUM, 0)):
        np.testing.assert_array_equal(multilabel(0, 5, FLOAT16, mode).results()[0], np.array(expected, FLOAT16))
