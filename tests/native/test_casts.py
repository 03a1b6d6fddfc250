"""Loads are exact and stores round once, ties to even, in every combination of types and lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.native.support import BF16, assert_same, at_odd_address, bit_patterns, run
from tests.operators.accuracy import FLOAT, FLOAT16, FLOATS, rounded, spacing

Array = npt.NDArray[Any]


def same(values: Array) -> Array:
    return values


def numbers_of(dtype: np.dtype[Any], target: np.dtype[Any]) -> Array:
    """Every number of a half type; of a wider one any, and those on and beside the middle between two numbers of the target."""
    if dtype.itemsize == 2:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        drawn = bit_patterns(200_000, 4).astype(dtype)
        exponents = 2.0 ** rng.uniform(-150, 128, 100_000) if target != FLOAT16 else 2.0 ** rng.uniform(-26, 17, 100_000)
        middle = rounded(exponents, target) + spacing(exponents, target) / 2
        middle = (middle * rng.choice([-1, 1], middle.size)).astype(dtype)
        beside = [np.nextafter(middle, dtype.type(side)) for side in (np.inf, -np.inf)]
        largest = np.array([65519.99, 65520, 65536, 3.38e38, 3.3961775e38, 3.4e38, 3.4028236e38], dtype)
    return np.concatenate([drawn, middle, *beside, largest, -largest])


@pytest.mark.parametrize("target", FLOATS, ids=str)
@pytest.mark.parametrize("source", [*FLOATS, np.dtype(np.float64)], ids=str)
def test_rounded_once(source: np.dtype[Any], target: np.dtype[Any]) -> None:
    values = numbers_of(source, target)[:-3]
    with np.errstate(all="ignore"):
        exact = values.astype(np.float64)
        expected = rounded(exact, target)
    for dtype in (np.float64,) if source == np.float64 else (np.float32, np.float64):
        for stored in (values, at_odd_address(values)):
            actual = run(same, [stored], np.empty(len(values), target), dtype=dtype)
            with np.errstate(all="ignore"):
                assert_same(actual.astype(np.float64), expected)


@pytest.mark.parametrize("target", [FLOAT16, BF16], ids=str)
def test_a_sum_in_float64_is_rounded_once_only(target: np.dtype[Any]) -> None:
    """1 + half a step + a little, where float32 would lose the little: a result on the way would round down."""
    step = float(spacing(1.0, target))
    first = np.full(100, 1 + step, target)
    second = np.full(100, step / 2, target)
    little = np.full(100, 2.0**-40, np.float32)
    actual = run(lambda x, y, z: x + y + z, [first, second, little], np.empty(100, target), dtype=np.float64)
    assert_same(actual, np.full(100, 1 + 2 * step, target))
    actual = run(lambda x, y, z: x + y - z, [first, second, little], np.empty(100, target), dtype=np.float64)
    assert_same(actual, np.full(100, 1 + step, target))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64], ids=lambda dtype: dtype.__name__)
def test_integers_are_loaded_as_numpy_casts_them(dtype: Any) -> None:
    bits = np.random.default_rng(6).integers(0, 256, 8 * 4000, dtype=np.uint8)
    values = bits % 2 == 1 if dtype is np.bool_ else bits.view(dtype)
    actual = run(lambda x: x + 0.25, [values], np.empty(values.shape, FLOAT))
    assert_same(actual, values.astype(FLOAT) + np.float32(0.25))
