"""A side that computes something else is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from benchmarks.compare import Disagreement, agree

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16)
WRONG: dict[str, Callable[[Any], Any]] = {
    "sign": lambda x: -x,
    "zero": lambda x: x * 0,
    "scale": lambda x: x * 2,
    "order": lambda x: x[::-1],
}


def values(dtype: Any = np.float32) -> Any:
    return np.random.default_rng(1).standard_normal(50_000).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding_is_no_difference(dtype: Any) -> None:
    x = values(dtype)
    agree({"out": x}, {"out": np.nextafter(x, x.dtype.type(9)) if dtype is not ml_dtypes.bfloat16 else (x.view(np.int16) + 1).view(dtype)})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "wrong", [lambda x: -x, lambda x: x * 0, lambda x: x * 2, lambda x: x[::-1]], ids=["sign", "zero", "scale", "order"]
)
def test_another_result_is(dtype: Any, wrong: Any) -> None:
    with pytest.raises(Disagreement):
        agree({"out": values(dtype)}, {"out": wrong(values(dtype))})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", [np.nan, np.inf, 100.0])
def test_one_element_is_enough(dtype: Any, place: float) -> None:
    other = values(dtype)
    other[12345] = place
    with pytest.raises(Disagreement, match=r"out\[12345\]"):
        agree({"out": values(dtype)}, {"out": other})


def test_no_numbers_where_both_have_none() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0], np.float32)
    agree({"out": x}, {"out": x.copy()})


def test_integers_are_compared_exactly() -> None:
    with pytest.raises(Disagreement):
        agree({"out": np.array([100_000, 1])}, {"out": np.array([100_001, 1])})


@pytest.mark.parametrize(
    "other",
    [{"out": np.zeros(4, np.float16)}, {"out": np.zeros((2, 2), np.float32)}, {}, {"result": np.zeros(4, np.float32)}],
    ids=["dtype", "shape", "none", "name"],
)
def test_results_are_the_same_kind_of_thing(other: Any) -> None:
    with pytest.raises(Disagreement):
        agree({"out": np.zeros(4, np.float32)}, other)
