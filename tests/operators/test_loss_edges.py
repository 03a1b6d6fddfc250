"""Single element-wise losses where their formulas are delicate, and errors that only they have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NCHW, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Meta, numbers
from tests.operators.losses import BY_NAME, MEAN, NONE, SUM


def run(operator: str, inputs: dict[str, Any], reduction: int = NONE, dtype: Any = FLOAT, **attributes: float) -> Array:
    arrays = {name: None if values is None else np.array(values, dtype) for name, values in inputs.items()}
    return BY_NAME[operator].case(arrays, reduction, dtype, **attributes).run()


def test_mean_squared_error_reduces_the_first_axis(device: int) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    squares = x.astype(float) ** 2
    assert_equal(run("aclnnMseLossOut", {"self": x, "target": [0]}, MEAN), squares.mean(axis=0))
    assert_equal(run("aclnnMseLossOut", {"self": x, "target": [0]}, SUM), squares.sum(axis=0))
    assert BY_NAME["aclnnMseLossOut"].valid((2, 3), reduction=SUM).but(out=Meta((), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID


def test_a_mean_does_not_overflow_where_its_sum_would(device: int) -> None:
    one = {"gradOutput": [3e38] * 100, "self": [2] * 100, "target": [0] * 100}
    assert_accurate(run("aclnnMseLossBackward", one, MEAN), np.full(100, 4 * float(np.float32(3e38)) / 100))
    assert_equal(run("aclnnL1Loss", {"self": [60000] * 4, "target": [0]}, MEAN, np.float16), 60000)
    assert_equal(run("aclnnL1Loss", {"self": [60000] * 4, "target": [0]}, SUM, np.float16), math.inf)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_beta_from_nothing_to_infinity(dtype: np.dtype, device: int) -> None:
    x = np.array([-3, -0.5, 0, 0.5, 3, math.inf, math.nan]).astype(dtype)
    inputs = {"self": x, "target": np.zeros_like(x)}
    assert_equal(run("aclnnSmoothL1Loss", inputs, dtype=dtype, beta=0.0), np.abs(x.astype(float)))
    assert_equal(run("aclnnSmoothL1Loss", inputs, dtype=dtype, beta=math.inf), [0, 0, 0, 0, 0, math.nan, math.nan])
    assert_equal(run("aclnnSmoothL1Loss", inputs, dtype=dtype, beta=2.0), [2, 0.0625, 0, 0.0625, 2, math.inf, math.nan])


def test_a_parabola_whose_square_would_overflow(device: int) -> None:
    assert_accurate(run("aclnnSmoothL1Loss", {"self": [1e30], "target": [0]}, beta=2e30), [0.25 * float(np.float32(1e30))], ulps=4)


@pytest.mark.parametrize("beta", [-1e-3, math.nan, -math.inf])
def test_beta_below_zero(beta: float) -> None:
    call = BY_NAME["aclnnSmoothL1Loss"].valid().but(beta=beta, target=Meta((5, 5), FLOAT))
    assert call.status() == ACLNN_ERR_PARAM_INVALID
    assert "beta is" in message()


FAR = [(-1000.0, 1000.0), (-80.0, 80.0), (80.0, math.exp(-80)), (100.0, math.exp(-100)), (1000.0, 0.0)]


def test_many_labels_that_are_no_integers(device: int) -> None:
    """So many that FLOAT is evaluated in float32: what the product with the label loses would show in the exponential."""
    rng = np.random.default_rng(2)
    x, label = (rng.uniform(-9, 9, 20000).astype(np.float32) for _ in range(2))
    z = -x.astype(np.longdouble) * label
    assert_accurate(run("aclnnSoftMarginLoss", {"self": x, "target": label}), np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))))


@pytest.mark.parametrize(("z", "value"), FAR)
def test_logistic_losses_far_from_the_margin(z: float, value: float, device: int) -> None:
    """log(1 + exp(-z)), and its slope between 0 and 1, without overflow and without losing the small end."""
    slope = 1.0 if z < 0 else value
    assert_accurate(run("aclnnSoftMarginLoss", {"self": [z], "target": [1]}), [value])
    assert_accurate(run("aclnnSoftMarginLossBackward", {"gradOutput": [1], "self": [z], "target": [1]}), [-slope])
    absent = {"weightOptional": None, "posWeightOptional": None}
    assert_accurate(run("aclnnBinaryCrossEntropyWithLogits", {"self": [z, -z], "target": [1, 0], **absent}), [value, value])
    back = {"gradOutput": [1, 1], "self": [z, -z], "target": [1, 0], **absent}
    assert_accurate(run("aclnnBinaryCrossEntropyWithLogitsBackward", back), [-slope, slope])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_certain_answers(dtype: np.dtype, device: int) -> None:
    """A probability of 0 or 1 costs nothing when right and 100 when wrong, and its gradient stays finite."""
    inputs = {"self": [0, 0, 1, 1], "target": [0, 1, 0, 1], "weight": [2, 2, 2, 2]}
    assert_equal(run("aclnnBinaryCrossEntropy", inputs, dtype=dtype), [0, 200, 200, 0])
    del inputs["weight"]
    back = {"gradOutput": [1, 1, 1, 1], **inputs, "weightOptional": None}
    assert_accurate(run("aclnnBinaryCrossEntropyBackward", back, dtype=dtype), [0, -1 / 1e-12, 1 / 1e-12, 0])


def test_a_scalar_has_a_scalar_gradient() -> None:
    loss = BY_NAME["aclnnBinaryCrossEntropyBackward"]
    assert loss.valid(()).status() == 0
    assert loss.valid(()).but(gradOutput=Meta((1,), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    assert "gradOutput" in message()
    assert loss.valid().but(gradOutput=Meta((), FLOAT)).status() == 0


def test_formats() -> None:
    """The document names the format among the errors; it is looked at before the reduction."""
    loss = BY_NAME["aclnnBinaryCrossEntropyWithLogits"]
    for parameter in loss.inputs:
        call = loss.valid((1, 2, 3, 4)).but(**{parameter: Meta((1, 2, 3, 4), FLOAT, format=ACL_FORMAT_FRACTAL_NZ)})
        assert call.but(reduction=9).status() == ACLNN_ERR_PARAM_INVALID
        assert f"{parameter} has format" in message()


def test_a_reduction_outside_the_set_is_a_sum(device: int) -> None:
    loss = BY_NAME["aclnnSoftMarginLoss"]
    for reduction in (-1, 3, 2**40):
        assert_equal(loss.valid(reduction=SUM).but(reduction=reduction).run(), loss.valid(reduction=SUM).run())


def test_null_inputs_of_binary_cross_entropy() -> None:
    loss = BY_NAME["aclnnBinaryCrossEntropy"]
    for name, status in (("self", ACLNN_ERR_INNER_NULLPTR), ("target", ACLNN_ERR_INNER_NULLPTR), ("out", ACLNN_ERR_PARAM_NULLPTR)):
        assert loss.valid().but(**{name: None}).status() == status
        assert name in message()


def test_mixed_types(device: int) -> None:
    """The gradient takes FLOAT and FLOAT16 side by side, for all but the target."""
    loss = BY_NAME["aclnnBinaryCrossEntropyWithLogitsBackward"]
    for dtype, other in ((FLOAT, FLOAT16), (FLOAT16, FLOAT)):
        mixed = {name: numbers((2, 3), other, i) for i, name in enumerate(("gradOutput", "weightOptional", "posWeightOptional"))}
        call = loss.valid((2, 3), dtype).but(**mixed)
        assert_accurate(call.run(), *loss.golden(call)[:1], via=FLOAT, largest=loss.golden(call)[1])
        for name in ("weightOptional", "posWeightOptional"):
            assert call.but(**{name: Meta((2, 3), BF16)}).status() == ACLNN_ERR_PARAM_INVALID
            assert name in message()


def test_equal_formats() -> None:
    """The gradient takes any format as long as all tensors have the same; strided ones count as one."""
    loss = BY_NAME["aclnnBinaryCrossEntropyWithLogitsBackward"]
    blocked = Meta((1, 2, 3, 4), FLOAT, format=ACL_FORMAT_FRACTAL_NZ)
    assert loss.valid((1, 2, 3, 4)).but(**dict.fromkeys((*loss.inputs, loss.out), blocked)).status() == 0
    for parameter in (*loss.inputs, loss.out):
        assert loss.valid((1, 2, 3, 4)).but(**{parameter: blocked._replace(format=ACL_FORMAT_NCHW)}).status() == 0
        assert loss.valid((1, 2, 3, 4)).but(**{parameter: blocked}).status() == ACLNN_ERR_PARAM_INVALID
        assert "has format" in message()


@pytest.mark.parametrize("name", ["aclnnSmoothL1Loss", "aclnnMseLoss", "aclnnBinaryCrossEntropy"])
def test_other_formats_are_taken_as_they_are(name: str) -> None:
    assert BY_NAME[name].valid((1, 2, 3, 4)).but(self=Meta((1, 2, 3, 4), FLOAT, format=ACL_FORMAT_NCHW)).status() == 0
