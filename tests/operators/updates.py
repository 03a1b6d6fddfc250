"""Updates that meet at one place, one after the other: what operators that scatter are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.operators.accuracy import FLOATS, rounded
from tests.operators.case import Array

Draw = Callable[..., Any]
Update = tuple[tuple[int, ...], Any]
"""A place, and what is written or combined there."""
COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "replace": lambda _, new: new,
    "add": lambda old, new: old + new,
    "multiply": lambda old, new: old * new,
    "divide": lambda old, new: quotient(old, new),
    "maximum": max,
    "minimum": min,
}


def combined(x: Array, updates: list[Update], how: str) -> Array:
    """One update after the other: floating-point numbers in float64, whole ones in Python's numbers, which then wrap around."""
    exact: dict[tuple[int, ...], Any] = {}
    for place, new in updates:
        old = exact.get(place, x[place])
        exact[place] = COMBINE[how](widened(old), widened(new))
    result = x.copy()
    for place, value in exact.items():
        result[place] = narrowed(value, x.dtype)
    return result


def quotient(old: Any, new: Any) -> Any:
    """Of integers without what is behind the point."""
    return int(old / new) if isinstance(old, int) else old / new


def widened(value: Any) -> Any:
    dtype = np.asarray(value).dtype
    return int(value) if dtype.kind in "iub" else complex(value) if dtype.kind == "c" else float(value)


def narrowed(value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind in "iu":
        bits = 8 * dtype.itemsize
        wrapped = int(value) % 2**bits
        return wrapped - 2**bits if dtype.kind == "i" and wrapped >= 2 ** (bits - 1) else wrapped
    return rounded(value, dtype) if dtype in FLOATS else value


def agree(found: Array, golden: Array) -> None:
    """Bit by bit, but for the last digit of sums and products in float64."""
    if found.dtype.kind in "cd" or found.dtype == np.float64:
        np.testing.assert_allclose(found, golden, rtol=1e-14 if found.dtype != np.complex64 else 1e-6)
    else:
        np.testing.assert_array_equal(found.astype(np.float64), golden.astype(np.float64))


def indices(draw: Draw, length: int, shape: tuple[int, ...], *, negative: bool = False) -> Array:
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    return rng.integers(-length if negative else 0, length, shape).astype(draw(st.sampled_from((np.int32, np.int64))))
