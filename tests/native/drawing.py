"""Numbers that are hard to get right."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.operators.accuracy import spacing

Array = npt.NDArray[Any]

KINDS = ("bits", "normal", "unit", "near_one", "moderate", "small", "large", "negative", "deep", "exponents", "few", "dense")
_FEW = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 0.25, 3.0, 1.5, 0.75, 1e-3, 2.0**-24, 2.0**15)


def numbers_of(rng: np.random.Generator, kind: str, count: int, dtype: np.dtype[Any]) -> Array:
    """Numbers of one kind; those of ``bits`` are any, all others moderate or nearly so."""
    if kind == "bits":
        return rng.integers(0, 1 << 8 * dtype.itemsize, count, dtype=f"u{dtype.itemsize}").view(dtype)
    sign = rng.choice([-1.0, 1.0], count)
    drawn = {
        "normal": lambda: rng.standard_normal(count) * 2.0 ** rng.integers(-3, 4),
        "unit": lambda: rng.random(count),
        "near_one": lambda: 1 - 2 ** -rng.uniform(0, 12, count),
        "moderate": lambda: 2 ** rng.uniform(-24, 15.9, count) * sign,
        "small": lambda: 2 ** rng.uniform(-24, -8, count) * sign,
        "large": lambda: 2 ** rng.uniform(10, 15.9, count) * sign,
        "negative": lambda: -np.abs(rng.standard_normal(count) * 8),
        "deep": lambda: rng.uniform(-104, -60, count),
        "exponents": lambda: rng.uniform(-110, 110, count),
        "few": lambda: rng.choice(_FEW, count),
        "dense": lambda: rng.uniform(1, 2, count) * 2.0 ** rng.integers(-9, 1, count) * sign,
    }[kind]()
    with np.errstate(all="ignore"):
        return drawn.astype(dtype)


def hardest(values: Array, dtype: np.dtype[Any], count: int, *, exact: bool = True) -> Array:
    """Where the float64 numbers are that lie closest to the middle between two numbers of a type, or exactly there."""
    with np.errstate(all="ignore"):
        place = np.abs(np.abs(values / spacing(values, dtype)) % 1 - 0.5)
    return np.argpartition(np.where(np.isfinite(values) & (exact | (place > 0)), place, 1), count)[:count]


def drawn_inputs(rng: np.random.Generator, count: int, length: int, dtype: np.dtype[Any], kinds: tuple[str, ...] = KINDS) -> list[Array]:
    """Inputs of a kernel, each of one kind; in some, two are nearly the same."""
    drawn = [numbers_of(rng, kind, length, dtype) for kind in rng.choice(kinds, count)]
    if count > 1 and rng.random() < 0.3:
        first, second = rng.choice(count, 2, replace=False)
        words = f"u{dtype.itemsize}"
        drawn[second] = (drawn[first].view(words) + rng.integers(-1, 2, length).astype(words)).view(dtype)
    return drawn
