"""aclnnLogit and aclnnLogitGrad."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.tools import describe
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes

INVALID = ACLNN_ERR_PARAM_INVALID
EPSILONS = st.sampled_from((-1.0, -0.25, 0.0, 1e-6, 0.1, 0.5, 0.75, 1.0, 2.0, math.inf))


def logit(x: Any, eps: float = -1.0, dtype: Any = FLOAT) -> Case:
    array = np.asarray(x).astype(dtype)
    return Case("aclnnLogit", {"input": array, "eps": eps, "out": np.full(array.shape, 7, dtype)})


def grad(x: Any, dy: Any, eps: float = -1.0, dtype: Any = FLOAT) -> Case:
    arrays = {"x": np.asarray(x).astype(dtype), "dy": np.asarray(dy).astype(dtype)}
    return Case("aclnnLogitGrad", {**arrays, "eps": eps, "out": np.full(arrays["x"].shape, 7, dtype)})


def golden_logit(x: Array, eps: float) -> Array:
    result = np.empty(x.shape, np.longdouble)
    for where, value in np.ndenumerate(x.astype(np.longdouble)):
        z = eps if value < eps else 1 - eps if value > 1 - eps else value
        with np.errstate(all="ignore"):
            odds = np.longdouble(z) / (1 - np.longdouble(z))
            result[where] = np.log(odds)
    return result


def golden_grad(x: Array, dy: Array, eps: float) -> Array:
    result = np.empty(x.shape, np.longdouble)
    for where, value in np.ndenumerate(x.astype(np.longdouble)):
        if eps < 0 and (value < 0 or value > 1):
            result[where] = math.nan
        elif eps >= 0 and (value < eps or value > 1 - eps):
            result[where] = 0
        else:
            with np.errstate(all="ignore"):
                result[where] = np.longdouble(dy[where]) / value / (1 - value)
    return result


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    shape, dtype, eps = data.draw(shapes(least=0)), data.draw(float_dtypes), data.draw(EPSILONS)
    x = np.abs(data.draw(floats(shape, dtype, 0.4))) if data.draw(st.booleans()) else data.draw(floats(shape, dtype))
    dy, layout = data.draw(floats(shape, dtype)), data.draw(layouts)
    expected = golden_logit(x, eps)
    assert_accurate(logit(x, eps, dtype).run(layout), expected, largest=np.where(np.isfinite(expected), 1e-9, 0))
    assert_accurate(grad(x, dy, eps, dtype).run(layout), golden_grad(x, dy, eps))


@pytest.mark.parametrize("eps", [-1.0, 0.0625, 1e-6])
def test_many_numbers(eps: float, device: int) -> None:
    """So many that FLOAT is evaluated in float32, if it is accurate enough; near one half the result is small."""
    rng = np.random.default_rng(1)
    near_half = np.float32(0.5) + rng.integers(-4000, 4000, 6000).astype(np.float32) * np.float32(2**-25)
    x = np.concatenate([near_half, rng.random(12000, np.float32), np.float32(2) ** -rng.uniform(1, 100, 2000).astype(np.float32)])
    assert_accurate(logit(x, eps).run(), golden_logit(x, eps))


def test_documented_samples(device: int) -> None:
    x = [[0.1, 0.2, 0.3, 0.4]]
    np.testing.assert_allclose(logit(x).run(), [[-2.197225, -1.386294, -0.847298, -0.405465]], atol=5.1e-7, rtol=0)
    np.testing.assert_allclose(grad(x, [[1, 2, 3, 4]]).run(), [[11.111111, 12.5, 14.285714, 16.666666]], atol=1.1e-6, rtol=0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_edges(dtype: np.dtype, device: int) -> None:
    x = [-math.inf, -1, 0, 0.5, 1, 2, math.inf, math.nan]
    inf, nan = math.inf, math.nan
    assert_equal(logit(x, -1.0, dtype).run(), [nan, nan, -inf, 0, inf, nan, nan, nan])
    assert_equal(logit(x, 0.0, dtype).run(), [-inf, -inf, -inf, 0, inf, inf, inf, nan])
    assert_equal(logit(x, 1.0, dtype).run()[:4], [inf] * 4)
    assert_equal(logit(x, 2.0, dtype).run(), [nan] * 8)
    ones = np.ones(8)
    assert_equal(grad(x, ones, -1.0, dtype).run(), [nan, nan, inf, 4, inf, nan, nan, nan])
    assert_equal(grad(x, -ones, 0.0, dtype).run(), [0, 0, -inf, -4, -inf, 0, 0, nan])
    assert_equal(grad(x, ones, inf, dtype).run()[:7], [0] * 7)
    assert_equal(grad(x, ones, nan, dtype).run(), [nan] * 8)
    assert_equal(grad([0.5, 0.5, 0.5], [inf, -inf, nan], 0.1, dtype).run(), [inf, -inf, nan])


def test_eps_is_a_c_double(device: int) -> None:
    """0.1 and 0.9 are the limits themselves, and within them."""
    assert (grad([0.1, 0.9], [1, 1], 0.1).run() > 11).all()
    assert_equal(grad([0.1, 0.9], [1, 1], 0.1 + 1e-7).run(), [0, 0])


@pytest.mark.parametrize(
    "call", [logit(numbers((2, 3), FLOAT)), grad(numbers((2, 3), FLOAT), numbers((2, 3), FLOAT))], ids=["logit", "grad"]
)
def test_errors(call: Case) -> None:
    first, *others = [name for name in call.arguments if name != "eps"]
    errors: list[tuple[dict[str, Any], int, str]] = [
        ({"out": None, first: Meta((2, 3), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "out"),
        ({first: Meta((2, 3), np.int8), "out": Meta((1,) * 9, FLOAT)}, INVALID, f"{first} has dtype"),
        ({first: Meta((1,) * 9, FLOAT), "out": Meta((2, 3), BF16)}, INVALID, f"{first} has 9 dimensions"),
        *[({name: Meta((4, 4), FLOAT16)}, INVALID, f"{name} has dtype") for name in others],
        *[({name: Meta((1, 3), FLOAT)}, INVALID, f"{name} has shape") for name in others],
    ]
    for changes, status, text in errors:
        assert call.but(**changes).status() == status, changes
        assert text in message()
    assert call.but(eps=math.nan).status() == 0


def test_empty_and_zero_dimensional(device: int) -> None:
    assert logit(np.zeros((3, 0))).plan() == grad(np.zeros((3, 0)), np.zeros((3, 0))).plan() == (0, 0)
    assert_equal(logit(0.5).run(), 0)
    assert_equal(grad(0.5, 2.0).run(), 8)


@pytest.mark.parametrize("operator", ["aclnnLogit", "aclnnLogitGrad"])
def test_products(operator: str) -> None:
    assert describe.products(aclnnop.find(operator)) == "950, A3, A2"
