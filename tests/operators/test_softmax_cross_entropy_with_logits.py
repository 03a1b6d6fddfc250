"""aclnnSoftmaxCrossEntropyWithLogits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts
from tests.operators.products import products_of


def case(features: Array, labels: Array) -> Case:
    rows = features.shape[:1]
    arguments = {"features": features, "labels": labels, "loss": numbers(rows, features.dtype, 8)}
    return Case("aclnnSoftmaxCrossEntropyWithLogits", {**arguments, "backprop": numbers(features.shape, features.dtype, 9)})


def valid(shape: tuple[int, int] = (4, 5), dtype=FLOAT) -> Case:
    return case(numbers(shape, dtype, 1, 2), np.abs(numbers(shape, dtype, 2)))


def assert_right(call: Case, layout: int = 0) -> None:
    """Row by row, in float64."""
    features, labels = (call.arguments[name].astype(np.float64) for name in ("features", "labels"))
    losses, slopes, largest = [], [], []
    for x, y in zip(features, labels, strict=True):
        rest = math.fsum(sorted(np.exp(x - x.max()))[:-1])
        logarithms = x - x.max() - math.log1p(rest)
        losses.append(-math.fsum(y * logarithms))
        largest.append(np.abs(y * logarithms).max())
        slopes.append(np.exp(x - x.max()) / (1 + rest) - y)
    loss, backprop = call.results(layout)
    assert_accurate(loss, losses, largest=largest)
    assert_accurate(backprop, slopes, largest=np.maximum(np.abs(labels), np.abs(np.array(slopes) + labels)))


def test_documented_sample(device: int) -> None:
    """Four equal features, labels of 2: a loss of 8 log 4 and a slope of 1/4 - 2."""
    loss, backprop = case(np.ones((16, 4), np.float32), np.full((16, 4), 2, np.float32)).results()
    assert_accurate(loss, np.full(16, 8 * math.log(4)))
    assert_equal(backprop, np.full((16, 4), -1.75))


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    dtype, shape = data.draw(float_dtypes), (data.draw(st.integers(1, 6)), data.draw(st.integers(1, 9)))
    call = case(data.draw(floats(shape, dtype, data.draw(st.sampled_from((1.0, 10.0))))), data.draw(floats(shape, dtype)))
    assert_right(call, data.draw(layouts))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sure_predictions(dtype: np.dtype, device: int) -> None:
    """Losses far below 1 keep their digits."""
    features = np.array([[20, 0, 1], [8, 0, -1], [60, 0, 0]]).astype(dtype)
    assert_right(case(features, np.tile([1, 0, 0], (3, 1)).astype(dtype)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinities_and_nan(dtype: np.dtype, device: int) -> None:
    """A label of 0 for a feature of -inf is 0 times inf."""
    features = np.array([[0, -math.inf], [0, -math.inf], [math.inf, 0], [math.nan, 0]]).astype(dtype)
    labels = np.array([[1, 0], [0, 1], [1, 0], [1, 0]]).astype(dtype)
    loss, backprop = case(features, labels).results()
    assert_equal(loss, [math.nan, math.inf, math.nan, math.nan])
    assert_equal(backprop[:2], [[0, 0], [1, -1]])


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)], ids=str)
def test_empty(shape: tuple[int, int], device: int, chip) -> None:
    chip("Ascend310B1")
    call = valid(shape)
    assert call.plan() == (0, 0)
    assert_equal(call.results()[0], call.arguments["loss"])


ERRORS = [
    ({"features": Meta((4, 5), np.float64)}, "features"),
    ({"labels": Meta((4, 5), np.int32)}, "labels"),
    ({"labels": Meta((4, 5), FLOAT16)}, "labels"),
    ({"loss": Meta((4,), BF16)}, "loss"),
    ({"backprop": Meta((4, 5), FLOAT16)}, "backprop"),
    ({"features": Meta((4,), FLOAT)}, "features"),
    ({"labels": Meta((1, 5), FLOAT)}, "labels"),
    ({"loss": Meta((5,), FLOAT)}, "loss"),
    ({"loss": Meta((4, 1), FLOAT)}, "loss"),
    ({"backprop": Meta((5, 4), FLOAT)}, "backprop"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


def test_order_of_checks(chip) -> None:
    chip("Ascend310B1")
    assert valid().but(backprop=None, labels=Meta((4, 5), np.int8)).status() == ACLNN_ERR_PARAM_NULLPTR
    assert valid().but(backprop=Meta((4,), np.int8), labels=Meta((4, 6), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    assert "backprop has dtype" in message()


def test_products(chip) -> None:
    assert products_of(valid(), chip) == {"950", "A3", "A2", "310P", "910"}
