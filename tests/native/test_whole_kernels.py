"""Kernels that are compiled as a whole: half types come out as float64 rounded once, wherever the result lies between two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aclnnop.activation.logsigmoid import log_sigmoid
from aclnnop.activation.logsigmoid_backward import gradient
from tests.native.graphs import signatures, whole
from tests.native.support import assert_same, in_steps, run
from tests.native.whole import check_bound, check_range, check_rounding, is_followed, units_of
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, rounded

ELEMENTWISE = [one for one in signatures() if whole(one).is_elementwise]


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("signature", ELEMENTWISE)
def test_half_types_are_rounded_once(signature: str, dtype: np.dtype[Any]) -> None:
    assert check_rounding(signature, dtype, 6) > 0.25


@pytest.mark.parametrize("signature", ELEMENTWISE)
def test_float32_computed_in_float64_is_rounded_once(signature: str) -> None:
    assert check_rounding(signature, FLOAT, 2) > 0.25


@pytest.mark.parametrize("signature", [one for one in ELEMENTWISE if np.isfinite(units_of(one))])
def test_errors_are_bounded_as_said(signature: str) -> None:
    check_bound(signature, 4)


@pytest.mark.parametrize("signature", [one for one in ELEMENTWISE if is_followed(one)])
def test_products_may_leave_the_range_of_float32(signature: str) -> None:
    check_range(signature)


@pytest.mark.parametrize("kernel", [lambda x, y: x - 2 * y, lambda x, y: x + y * -2, lambda x, y: 2 * x - y], ids=["sub", "add", "first"])
def test_nothing_is_too_large_on_the_way(kernel: Any) -> None:
    """Twice a bfloat16 number need not be a float32 one."""
    x, y = np.array([3e38, 2e38, 1.5], BF16), np.array([3e38, 1.8e38, 2.5], BF16)
    expected = rounded(kernel(x.astype(np.float64), y.astype(np.float64)), BF16).astype(BF16)
    assert_same(run(kernel, [x, y], np.empty_like(x), compute=np.float64), expected)
    assert_same(run(in_steps(kernel), [np.zeros(1, np.bool_), x, y], np.empty_like(x), compute=np.float64), expected)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
def test_what_is_nothing_in_float32_has_the_sign_that_it_has_in_float64(dtype: np.dtype[Any]) -> None:
    x = np.arange(80, 760).astype(dtype)
    expected = rounded(log_sigmoid(x.astype(np.float64)), dtype).astype(dtype)
    assert np.signbit(expected[50])
    assert_same(run(log_sigmoid, [x], np.empty_like(x), compute=np.float64), expected)


@pytest.mark.parametrize("slope", [1.0, -0.0, 0.7, -1.3, 3e-5, 6e4, -1e-30, 3e38, np.inf, np.nan])
@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
def test_a_shorter_formula_gives_the_same(dtype: np.dtype[Any], slope: float) -> None:
    """Of all numbers, though one exponential is too large for float32 where its roots are not."""
    x = np.arange(1 << 16).astype(np.uint16).view(dtype)
    with np.errstate(all="ignore"):
        slopes = np.full_like(x, slope)
        expected = rounded(gradient(slopes.astype(np.float64), x.astype(np.float64)), dtype).astype(dtype)
    assert_same(run(gradient, [slopes, x], np.empty_like(x), compute=np.float64), expected)
