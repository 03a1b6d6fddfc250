"""aclnnNLLLoss2dBackward."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_ERROR_RT_AICORE_EXCEPTION, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts
from tests.operators.refusals import assert_refused

NONE, MEAN, SUM = 0, 1, 2
INDEXES = (np.int64, np.int32, np.uint8)


def golden(call: Case) -> Array:
    """The documented formula in float64, pixel by pixel."""
    grad, target, weight, total = (call.arguments[name] for name in ("gradOutput", "target", "weight", "totalWeight"))
    reduction, ignored = call.arguments["reduction"], call.arguments["ignoreIndex"]
    result = np.zeros(call.arguments["self"].shape)
    for n, h, w in np.ndindex(target.shape):
        t = int(target[n, h, w])
        if t != ignored:
            g = float(grad[n, h, w]) if reduction == NONE else float(grad.ravel()[0])
            if reduction == MEAN:
                g = np.float64(g) / np.float64(total.ravel()[0])
            result[n, t, h, w] = -float(weight.ravel()[t]) * g
    return result


def valid(shape: tuple[int, int, int, int] = (2, 5, 3, 4), dtype=FLOAT, index=np.int64, reduction: int = NONE, ignored: int = -100) -> Case:
    batch, classes, height, width = shape
    pixels = (batch, height, width)
    return Case(
        "aclnnNLLLoss2dBackward",
        {
            "gradOutput": numbers(pixels if reduction == NONE else (1,), dtype, 1),
            "self": numbers(shape, dtype, 2),
            "target": np.random.default_rng(3).integers(0, max(classes, 1), pixels).astype(index),
            "weight": numbers((classes,), dtype, 4),
            "reduction": reduction,
            "ignoreIndex": ignored,
            "totalWeight": np.array([1.7], dtype),
            "out": numbers(shape, dtype, 5),
        },
    )


def test_documented_sample(device: int) -> None:
    call = valid((3, 5, 1, 1)).but(
        gradOutput=np.array([2.7, 2.6, 2.5], np.float32).reshape(3, 1, 1),
        target=np.array([2, 3, 1]).reshape(3, 1, 1),
        weight=np.ones(5, np.float32),
    )
    expected = np.zeros(15)
    expected[[2, 8, 11]] = np.float32([-2.7, -2.6, -2.5])
    assert_equal(call.run().ravel(), expected)


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Types, shapes, reductions, ignored classes, strides."""
    shape = tuple(data.draw(st.integers(1, most)) for most in (3, 6, 4, 4))
    dtype, index = data.draw(float_dtypes), data.draw(st.sampled_from(INDEXES))
    reduction, ignored = data.draw(st.sampled_from((NONE, MEAN, SUM))), data.draw(st.integers(-1, 6))
    call = valid(shape, dtype, index, reduction, ignored)
    grad_shape = call.arguments["gradOutput"].shape if reduction == NONE else data.draw(st.sampled_from(((), (1,))))
    target = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, shape[1], (shape[0], *shape[2:])).astype(index)
    call = call.but(
        gradOutput=data.draw(floats(grad_shape, dtype, special=True)),
        target=target,
        weight=data.draw(floats((shape[1],), dtype, special=True)),
        totalWeight=data.draw(floats(data.draw(st.sampled_from(((), (1,), (1, 1)))), dtype)),
    )
    with np.errstate(all="ignore"):
        expected = golden(call)
    assert_accurate(call.run(data.draw(layouts)), expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_every_type(dtype: np.dtype, index: type, reduction: int, device: int) -> None:
    call = valid(dtype=dtype, index=index, reduction=reduction, ignored=2)
    assert_accurate(call.run(), golden(call))


def test_ignored_pixels_are_zero_whatever_their_gradient(device: int) -> None:
    call = valid(ignored=1)
    call.arguments["gradOutput"][...] = math.nan
    call.arguments["target"][...] = 1
    assert_equal(call.run(), np.zeros((2, 5, 3, 4)))


def test_an_ignored_class_may_lie_outside(device: int) -> None:
    call = valid(ignored=-100)
    call.arguments["target"][0, 0, :2] = -100
    assert_accurate(call.run(), golden(call))
    call = valid(index=np.uint8, ignored=255)
    call.arguments["target"][1, 2, :2] = 255
    assert_accurate(call.run(), golden(call))


def test_division_by_a_total_of_zero(device: int) -> None:
    call = valid(reduction=MEAN).but(totalWeight=np.zeros(1, np.float32))
    with np.errstate(divide="ignore"):
        assert_equal(call.run(), golden(call))


@pytest.mark.parametrize(("index", "bad"), [(np.int64, 5), (np.int64, -1), (np.int32, 2**31 - 1), (np.uint8, 255), (np.int64, -(2**63))])
@pytest.mark.parametrize("layout", [0, 4])
def test_target_out_of_range(index: type, bad: int, layout: int, device: int, chip) -> None:
    """It counts for nothing; on 950 it stops the device."""
    call = valid(index=index)
    other = valid(index=index, ignored=call.arguments["ignoreIndex"])
    expected = golden(other)
    expected[1, :, 2, 3] = 0
    call.arguments["target"][1, 2, 3] = bad
    assert_accurate(call.run(layout), expected)
    chip("Ascend950PR_9589")
    assert call.status() == 0
    with pytest.raises(Exception, match=rf"aclrtSynchronizeStream.*\n?.*target\[1, 2, 3\] is {bad}, outside \[0, 4\]"):
        call.run(layout)
    assert call.refused(layout) == ACL_ERROR_RT_AICORE_EXCEPTION


@pytest.mark.parametrize("shape", [(0, 5, 3, 4), (2, 5, 0, 4), (2, 5, 3, 0), (2, 0, 3, 4)], ids=str)
def test_empty(shape: tuple[int, int, int, int], device: int) -> None:
    call = valid(shape, BF16)
    assert call.plan() == (0, 0)
    assert call.run().shape == shape


ERRORS = [
    ({"gradOutput": Meta((2, 3, 4), FLOAT16)}, "gradOutput"),
    ({"self": Meta((2, 5, 3, 4), BF16)}, "gradOutput"),
    ({"weight": Meta((5,), FLOAT16)}, "weight"),
    ({"totalWeight": Meta((1,), BF16)}, "totalWeight"),
    ({"out": Meta((2, 5, 3, 4), FLOAT16)}, "out"),
    ({"target": Meta((2, 3, 4), np.int16)}, "target"),
    ({"self": Meta((2, 5, 3, 4), np.float64)}, "self"),
    ({"self": Meta((2, 5, 12), FLOAT)}, "self"),
    ({"self": Meta((2, 5, 3, 2, 2), FLOAT)}, "self"),
    ({"target": Meta((2, 4, 3), np.int64)}, "target"),
    ({"target": Meta((2, 1, 3, 4), np.int64)}, "target"),
    ({"weight": Meta((4,), FLOAT)}, "weight"),
    ({"totalWeight": Meta((2,), FLOAT)}, "totalWeight"),
    ({"totalWeight": Meta((0,), FLOAT)}, "totalWeight"),
    ({"out": Meta((2, 5, 4, 3), FLOAT)}, "out"),
    ({"gradOutput": Meta((2, 3, 3), FLOAT)}, "gradOutput"),
    ({"gradOutput": Meta((1,), FLOAT)}, "gradOutput"),
    ({"reduction": SUM}, "gradOutput"),
    ({"reduction": MEAN, "gradOutput": Meta((1, 1), FLOAT)}, "gradOutput"),
    ({"reduction": MEAN, "gradOutput": Meta((2,), FLOAT)}, "gradOutput"),
    ({"reduction": 3, "gradOutput": Meta((1,), FLOAT)}, "reduction"),
    ({"reduction": -1, "gradOutput": Meta((), FLOAT)}, "reduction"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    ({"totalWeight": None, "self": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "totalWeight"),
    ({"out": Meta((2, 5, 3, 4), np.int8), "self": Meta((1,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ({"target": Meta((1,), np.int64), "reduction": 7}, ACLNN_ERR_PARAM_INVALID, "target has shape"),
    ({"reduction": 7}, ACLNN_ERR_PARAM_INVALID, "gradOutput has shape"),
]


def test_order_of_checks(chip) -> None:
    assert_refused([(valid(), *wrong) for wrong in ORDER], chip, ("Ascend910B1", "Ascend310P3"))


def test_products(chip) -> None:
    for soc in ("Ascend950PR_9589", "Ascend910_9391", "Ascend910B1", "Ascend910A"):
        chip(soc)
        assert valid().status() == 0, soc
        assert valid(dtype=FLOAT16).status() == 0, soc
    for soc in ("Ascend310B1", "Ascend310P3"):
        chip(soc)
        assert valid().status() == ACLNN_ERR_INNER_NULLPTR, soc
        assert valid((0, 5, 3, 4)).plan() == (0, 0)


def test_bf16_by_chip(chip) -> None:
    for soc, status in (("Ascend310P3", ACLNN_ERR_PARAM_INVALID), ("Ascend910A", ACLNN_ERR_PARAM_INVALID), ("Ascend910_9391", 0)):
        chip(soc)
        assert valid(dtype=np.dtype(ml_dtypes.bfloat16)).status() == status, soc


def test_no_type_needs_workspace() -> None:
    for dtype in (FLOAT, FLOAT16, BF16):
        assert valid(dtype=dtype).plan() == (0, 0)
