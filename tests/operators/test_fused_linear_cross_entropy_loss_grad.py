"""aclnnFusedLinearCrossEntropyLossGrad."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu import (
    ACL_ERROR_RT_AICORE_EXCEPTION,
    ACL_FORMAT_FRACTAL_NZ,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_PARAM_NULLPTR,
    ACLNN_ERR_RUNTIME_ERROR,
)
from acl_emu.core.dtypes import from_numpy
from aclnnop.matmul import vocabulary as module
from aclnnop.matmul.fused_linear_cross_entropy_loss_grad import logit_gradients
from tests.conftest import message, run_python
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_equal, assert_meets_standard, rounded
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts

FAST, SAVING = "fast", "memory-saving"
MODES = (FAST, SAVING)
HALVES = (FLOAT16, BF16)


def valid(
    rows: int = 9, vocabulary: int = 130, width: int = 8, dtype=BF16, mode: str = SAVING, index=np.int64, mask=np.uint8, seed: int = 0
) -> Case:
    """A call such as training makes it: the saved values are those of the forward pass."""
    features, table = numbers((rows, width), dtype, seed, 0.5), numbers((vocabulary, width), dtype, seed + 1, 0.5)
    logits = features.astype(np.float64) @ table.astype(np.float64).T
    largest = logits.max(axis=1).astype(np.float32)
    exponentials = np.exp(logits - largest[:, np.newaxis])
    sums = exponentials.sum(axis=1).astype(np.float32)
    rng = np.random.default_rng(seed)
    fast = mode == FAST
    return Case(
        "aclnnFusedLinearCrossEntropyLossGrad",
        {
            "grad": numbers((rows,), np.float32, seed + 2),
            "input": features,
            "weight": table,
            "targetMask": rng.integers(0, 256, -(-rows // 8), np.uint8) if mask == np.uint8 else rng.integers(0, 2, rows).astype(np.bool_),
            "maskedTarget": rng.integers(0, vocabulary, rows, index),
            "labelSmoothing": 0.0,
            "logitsMaxOptional": None if fast else largest,
            "sumExpLogitsOptional": None if fast else sums,
            "softmaxOptional": (exponentials / sums[:, np.newaxis]).astype(np.float32) if fast else None,
            "inputGradOut": numbers((rows, width), dtype, seed + 3),
            "weightGradOut": numbers((vocabulary, width), dtype, seed + 4),
        },
    )


def masked(mask: Array, row: int) -> bool:
    return bool(mask[row]) if mask.dtype == np.bool_ else bool(mask[row // 8] >> (row % 8) & 1)


def golden(call: Case) -> tuple[Array, Array]:
    """In float64, rounded where the operator rounds: the probabilities to the type of the matrices, each product once."""
    given = call.arguments
    features, table = given["input"].astype(np.float64), given["weight"].astype(np.float64)
    if given["softmaxOptional"] is not None:
        p = given["softmaxOptional"].astype(np.float64)
    else:
        p = np.exp(features @ table.T - given["logitsMaxOptional"].astype(np.float64)[:, np.newaxis])
        p /= given["sumExpLogitsOptional"].astype(np.float64)[:, np.newaxis]
    for row, target in enumerate(given["maskedTarget"]):
        if not masked(given["targetMask"], row):
            p[row, target] -= 1
    dtype = given["input"].dtype
    p = rounded(p * given["grad"].astype(np.float64)[:, np.newaxis], dtype)
    return rounded(p @ table, dtype), rounded(p.T @ features, dtype)


def assert_right(call: Case, layout: int = 0) -> None:
    for actual, expected in zip(call.results(layout), golden(call), strict=True):
        assert_meets_standard(actual, expected)


@pytest.fixture(params=[1, module.BLOCK_ELEMENTS], ids=["smallest blocks", "one block"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The vocabulary in as many blocks as possible, or in one."""
    monkeypatch.setattr(module, "BLOCK_ELEMENTS", request.param)
    return request.param


def test_documented_sample(device: int) -> None:
    """All zeros in, all zeros out; a tenth of the size of the page's."""
    size, half = 128, np.float16
    matrix = np.zeros((size, size), half)
    call = valid(size, size, size, FLOAT16, FAST).but(
        grad=np.zeros(size, np.float32),
        input=matrix,
        weight=matrix,
        targetMask=np.zeros(size // 8, np.uint8),
        maskedTarget=np.zeros(size, np.int64),
        softmaxOptional=np.zeros((size, size), np.float32),
    )
    for result in call.results():
        assert_equal(result, matrix)


@given(st.data())
@settings(max_examples=30)
def test_values(device: int, data: st.DataObject) -> None:
    """Sizes, types, both modes and both masks, strides."""
    call = valid(
        data.draw(st.integers(1, 40)),
        data.draw(st.integers(128, 300)),
        data.draw(st.integers(1, 33)),
        data.draw(st.sampled_from(HALVES)),
        data.draw(st.sampled_from(MODES)),
        data.draw(st.sampled_from((np.int64, np.int32))),
        data.draw(st.sampled_from((np.uint8, np.bool_))),
        data.draw(st.integers(0, 50)),
    )
    assert_right(call, data.draw(layouts))


@pytest.mark.parametrize(("mode", "seed"), [(FAST, 36), (SAVING, 15), (SAVING, 42)])
def test_products_that_cancel(mode: str, seed: int, device: int) -> None:
    """Where a probability, computed in float32, would be rounded to the wrong side."""
    assert_right(valid(8, 208, 7, FLOAT16, mode, np.int64, np.bool_, seed))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(("rows", "words", "width", "part"), [(64, 512, 96, 64), (33, 700, 300, 7)])
@pytest.mark.parametrize("scale", [1.0, 6.0])
def test_gradients_of_logits_are_those_of_float64(rows: int, words: int, width: int, part: int, scale: float, dtype: np.dtype) -> None:
    """Every single one, rounded to the type of the matrices."""
    features, table = (numbers(shape, dtype, seed, 0.5).astype(np.float32) for seed, shape in enumerate(((rows, width), (words, width))))
    features *= np.float32(scale)
    logits = features.astype(np.float64) @ table.astype(np.float64).T
    largest = logits.max(axis=1).astype(np.float32)
    exponentials = np.exp(logits - largest[:, np.newaxis])
    total, grad = exponentials.sum(axis=1).astype(np.float32), numbers((rows,), np.float32, 2)
    own = np.random.default_rng(3).integers(-words, words, rows)
    probabilities = exponentials / total[:, np.newaxis].astype(np.float64)
    counted = np.flatnonzero(own >= 0)
    probabilities[counted, own[counted]] -= 1
    p = (features @ table.T).astype(np.float32)
    norms = np.empty((rows, 1), np.float32), np.empty((words, 1), np.float32)
    halves = np.empty((part, words), dtype), np.empty((part, words), dtype)
    logit_gradients(p, features, table, largest, total, grad, own, *norms, *halves, from_numpy(dtype))
    assert_equal(p, rounded(probabilities * grad[:, np.newaxis], dtype))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("vocabulary", [128, 256, 300, 1000])
def test_blocks_of_the_vocabulary(vocabulary: int, dtype: np.dtype, mode: str, blocks: int, device: int) -> None:
    assert_right(valid(33, vocabulary, 24, dtype, mode))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_no_row_has_its_target_here(dtype: np.dtype, device: int) -> None:
    """Masked targets are not looked at, whatever they are."""
    call = valid(9, dtype=dtype).but(targetMask=np.full(2, 255, np.uint8), maskedTarget=np.full(9, -(2**40)))
    assert_right(call)


def test_mask_bits_start_with_the_least_significant(device: int) -> None:
    bits = np.array([0b00000010, 0b00000001], np.uint8)
    flags = np.array([0, 1, 0, 0, 0, 0, 0, 0, 1], np.bool_)
    packed = valid().but(targetMask=bits).results()
    plain = valid().but(targetMask=flags).results()
    assert_right(valid().but(targetMask=bits))
    assert [result.tobytes() for result in packed] == [result.tobytes() for result in plain]


def test_a_mask_may_be_longer_than_needed(device: int) -> None:
    call = valid()
    longer = np.concatenate([call.arguments["targetMask"], np.array([255, 170], np.uint8)])
    assert [a.tobytes() for a in call.but(targetMask=longer).results()] == [b.tobytes() for b in call.results()]


def test_expanded_inputs(device: int) -> None:
    call = valid()
    assert_right(call.but(grad=np.broadcast_to(np.float32(0.25), (9,)), maskedTarget=np.broadcast_to(np.int64(7), (9,))))


@pytest.mark.parametrize("name", ["logitsMaxOptional", "sumExpLogitsOptional"])
def test_fast_mode_does_not_look_at_the_other_two(name: str) -> None:
    call = valid(mode=FAST)
    for odd in (None, Meta((1, 2, 3), np.int8), Meta((1,), FLOAT, format=ACL_FORMAT_FRACTAL_NZ)):
        assert call.but(**{name: odd}).status() == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bad", [-1, 130])
@pytest.mark.parametrize("index", [np.int64, np.int32])
def test_target_out_of_range_faults_on_the_device(mode: str, bad: int, index: type, device: int) -> None:
    call = valid(mode=mode, index=index).but(targetMask=np.zeros(2, np.uint8))
    call.arguments["maskedTarget"][8] = bad
    assert call.status() == 0
    with pytest.raises(Exception, match=rf"aclrtSynchronizeStream.*\n?.*maskedTarget\[8\] is {bad}, outside \[0, 129\]"):
        call.results()
    assert call.refused(3) == ACL_ERROR_RT_AICORE_EXCEPTION


@pytest.mark.parametrize(("rows", "width"), [(0, 8), (9, 0)])
@pytest.mark.parametrize("mode", MODES)
def test_empty(rows: int, width: int, mode: str, device: int) -> None:
    filled = valid(mode=mode).arguments
    shapes = {
        "grad": (rows,),
        "input": (rows, width),
        "weight": (130, width),
        "targetMask": (-(-rows // 8),),
        "maskedTarget": (rows,),
        "logitsMaxOptional": (rows,),
        "sumExpLogitsOptional": (rows,),
        "softmaxOptional": (rows, 130),
        "inputGradOut": (rows, width),
        "weightGradOut": (130, width),
    }
    call = valid(mode=mode).but(**{name: np.zeros(shape, filled[name].dtype) for name, shape in shapes.items() if filled[name] is not None})
    assert call.plan() == (0, 0)
    call.results()


ERRORS = [
    ({"grad": Meta((9,), FLOAT16)}, "grad"),
    ({"input": Meta((9, 8), FLOAT)}, "input"),
    ({"weight": Meta((130, 8), FLOAT)}, "weight"),
    ({"weight": Meta((130, 8), FLOAT16)}, "weight"),
    ({"targetMask": Meta((2,), np.int8)}, "targetMask"),
    ({"maskedTarget": Meta((9,), np.uint8)}, "maskedTarget"),
    ({"logitsMaxOptional": Meta((9,), BF16)}, "logitsMaxOptional"),
    ({"sumExpLogitsOptional": Meta((9,), np.float64)}, "sumExpLogitsOptional"),
    ({"softmaxOptional": Meta((9, 130), BF16)}, "softmaxOptional"),
    ({"inputGradOut": Meta((9, 8), FLOAT16)}, "inputGradOut"),
    ({"inputGradOut": Meta((9, 8), FLOAT)}, "inputGradOut"),
    ({"weightGradOut": Meta((130, 8), FLOAT16)}, "weightGradOut"),
    ({"labelSmoothing": 0.1}, "labelSmoothing"),
    ({"labelSmoothing": -1e-9}, "labelSmoothing"),
    ({"labelSmoothing": float("nan")}, "labelSmoothing"),
    ({"grad": Meta((8,), FLOAT)}, "grad"),
    ({"grad": Meta((9, 1), FLOAT)}, "grad"),
    ({"input": Meta((9,), BF16)}, "input"),
    ({"weight": Meta((130, 9), BF16)}, "weight"),
    ({"targetMask": Meta((1,), np.uint8)}, "targetMask"),
    ({"targetMask": Meta((2,), np.bool_)}, "targetMask"),
    ({"targetMask": Meta((16,), np.bool_)}, "targetMask"),
    ({"maskedTarget": Meta((10,), np.int64)}, "maskedTarget"),
    ({"logitsMaxOptional": Meta((8,), FLOAT)}, "logitsMaxOptional"),
    ({"sumExpLogitsOptional": Meta((10,), FLOAT)}, "sumExpLogitsOptional"),
    ({"softmaxOptional": Meta((9, 129), FLOAT)}, "softmaxOptional"),
    ({"inputGradOut": Meta((9, 9), BF16)}, "inputGradOut"),
    ({"weightGradOut": Meta((130, 9), BF16)}, "weightGradOut"),
    ({"weightGradOut": Meta((129, 8), BF16)}, "weightGradOut"),
    ({"input": Meta((9, 8), BF16, format=ACL_FORMAT_FRACTAL_NZ)}, "input"),
    ({"weight": Meta((127, 8), BF16), "weightGradOut": Meta((127, 8), BF16)}, "weight"),
    ({"weight": Meta((127, 8), BF16), "weightGradOut": Meta((127, 8), BF16), "softmaxOptional": Meta((9, 127), FLOAT)}, "weight"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:70])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


@pytest.mark.parametrize("name", ["logitsMaxOptional", "sumExpLogitsOptional"])
def test_memory_saving_mode_needs_both(name: str) -> None:
    assert valid().but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    assert name in message()


ORDER = [
    ({"logitsMaxOptional": None, "grad": None}, ACLNN_ERR_PARAM_NULLPTR, "logitsMaxOptional"),
    ({"weightGradOut": None, "grad": Meta((9,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "weightGradOut"),
    (
        {"weightGradOut": Meta((9,), np.int8), "grad": Meta((9,), FLOAT, format=ACL_FORMAT_FRACTAL_NZ)},
        ACLNN_ERR_PARAM_INVALID,
        "weightGradOut has",
    ),
    ({"grad": Meta((9, 9), FLOAT, format=ACL_FORMAT_FRACTAL_NZ), "labelSmoothing": 1.0}, ACLNN_ERR_PARAM_INVALID, "grad has format"),
    ({"labelSmoothing": 1.0, "grad": Meta((8,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "labelSmoothing is 1"),
]


@pytest.mark.parametrize(("changes", "status", "text"), ORDER, ids=lambda item: str(item)[:70])
@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend950PR_9589"])
def test_order_of_checks(changes: dict, status: int, text: str, soc: str, chip) -> None:
    chip(soc)
    assert valid().but(**changes).status() == status
    assert text in message()


@pytest.mark.parametrize("mode", MODES)
def test_products(mode: str, chip) -> None:
    for soc in ("Ascend910_9391", "Ascend910B1"):
        chip(soc)
        assert valid(mode=mode).status() == 0, soc
    for soc in ("Ascend950PR_9589", "Ascend310B1", "Ascend310P3", "Ascend910A"):
        chip(soc)
        assert valid(mode=mode, dtype=FLOAT16).status() == ACLNN_ERR_RUNTIME_ERROR, soc
    for soc in ("Ascend310P3", "Ascend910A"):
        chip(soc)
        assert valid(mode=mode).status() == ACLNN_ERR_PARAM_INVALID, soc


def test_empty_succeeds_on_every_product(chip) -> None:
    chip("Ascend950PR_9589")
    call = valid().but(
        input=Meta((9, 0), BF16), weight=Meta((130, 0), BF16), inputGradOut=Meta((9, 0), BF16), weightGradOut=Meta((130, 0), BF16)
    )
    assert call.plan() == (0, 0)


def test_planned_workspace_of_a_large_call() -> None:
    """The full softmax would take 1 GiB."""
    rows, vocabulary, width = 2048, 131072, 256
    call = Case(
        "aclnnFusedLinearCrossEntropyLossGrad",
        {
            "grad": Meta((rows,), FLOAT),
            "input": Meta((rows, width), BF16),
            "weight": Meta((vocabulary, width), BF16),
            "targetMask": Meta((rows // 8,), np.uint8),
            "maskedTarget": Meta((rows,), np.int64),
            "labelSmoothing": 0.0,
            "logitsMaxOptional": Meta((rows,), FLOAT),
            "sumExpLogitsOptional": Meta((rows,), FLOAT),
            "softmaxOptional": None,
            "inputGradOut": Meta((rows, width), BF16),
            "weightGradOut": Meta((vocabulary, width), BF16),
        },
    )
    status, size = call.plan()
    assert status == 0
    assert 0 < size < 100 << 20


MEASURED = """
import acl_emu as acl, aclnnop, numpy as np, ml_dtypes

def peak():
    # not ru_maxrss, which a process inherits from the one that started it
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

def tensor(shape, dtype, code, fill=0):
    array = np.full(shape, fill, dtype)
    address, _ = acl.aclrtMalloc(array.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert acl.aclrtMemcpy(address, array.nbytes, array, array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    return acl.aclCreateTensor(shape, code, None, 0, acl.ACL_FORMAT_ND, shape, address)

def run(rows, vocabulary, width):
    half = ml_dtypes.bfloat16, acl.ACL_BF16
    single = np.float32, acl.ACL_FLOAT
    arguments = (
        tensor((rows,), *single, 1), tensor((rows, width), *half, 0.125), tensor((vocabulary, width), *half, 0.125),
        tensor((rows // 8,), np.uint8, acl.ACL_UINT8), tensor((rows,), np.int64, acl.ACL_INT64), 0.0,
        tensor((rows,), *single), tensor((rows,), *single, vocabulary), None,
        tensor((rows, width), *half), tensor((vocabulary, width), *half),
    )
    before = peak()
    size, executor, status = aclnnop.aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(*arguments)
    workspace, _ = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert aclnnop.aclnnFusedLinearCrossEntropyLossGrad(workspace, size, executor, None) == 0
    assert acl.aclrtSynchronizeDevice() == 0
    return peak() - before, size

assert acl.aclrtSetDevice(0) == 0
run(64, 128, 64)
print(*run({rows}, {vocabulary}, {width}))
"""


def test_memory_saving_mode_saves_memory() -> None:
    """Peak of the process beyond inputs and outputs, workspace and numpy's temporaries included."""
    rows, vocabulary, width = 512, 131072, 32
    done = run_python(MEASURED.replace("{rows}", str(rows)).replace("{vocabulary}", str(vocabulary)).replace("{width}", str(width)))
    assert done.returncode == 0, done.stderr
    extra, workspace = map(int, done.stdout.split())
    softmax = rows * vocabulary * 4
    assert 16 << 20 < extra < softmax / 3
    assert workspace < softmax / 3
