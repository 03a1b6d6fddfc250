"""Resampling along axes: for each element of the result, where it is taken from and with what weights.

Resampling along several axes is done axis by axis, and its gradient is the transpose of each. Positions and weights are computed in
float32, those of DOUBLE in float64; sums are taken in float64.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from acl_emu.spec import Array


class Rule(enum.Enum):
    """How elements are combined."""

    NEAREST = "nearest"
    EXACT = "exact"
    LINEAR = "linear"
    CUBIC = "cubic"
    SMOOTH_LINEAR = "anti-aliased linear"
    SMOOTH_CUBIC = "anti-aliased cubic"


class Taps(NamedTuple):
    """Elements of a sparse matrix: which result, which input, what weight."""

    rows: Array
    places: Array
    weights: Array


@dataclass(frozen=True)
class Axis:
    """An axis of ``length`` elements, resampled to ``count``."""

    rule: Rule
    length: int
    count: int
    scale: float = 0.0
    """What the caller says that the axis is multiplied by; not above 0: the ratio of the lengths."""
    aligned: bool = False
    """Whether the first and last elements of both fall together."""
    real: type[np.floating[Any]] = np.float32
    """What positions and weights are computed in."""

    @property
    def step(self) -> Any:
        """The distance of results, in elements of the input."""
        if self.aligned:
            return self.real(self.length - 1) / self.real(self.count - 1) if self.count > 1 else self.real(0)
        with np.errstate(over="ignore"):
            return self.real(1 / self.scale) if self.scale > 0 else self.real(self.length) / self.real(self.count)

    @cached_property
    def taps(self) -> Taps:
        """All elements that count for a result."""
        return TAPS[self.rule](self)

    @cached_property
    def forward(self) -> tuple[Taps, ...]:
        """The taps in groups: in each, every result occurs once at most."""
        return grouped(self.taps)

    @cached_property
    def backward(self) -> tuple[Taps, ...]:
        """The same for the transpose."""
        rows, places, weights = self.taps
        return grouped(Taps(places, rows, weights))

    @property
    def centers(self) -> Array:
        """Where results lie in the input, its elements being at integers."""
        numbers = np.arange(self.count).astype(self.real)
        with np.errstate(invalid="ignore", over="ignore"):
            found = numbers * self.step if self.aligned else (numbers + self.real(0.5)) * self.step - self.real(0.5)
        return _finite(found, self.length)


def _finite(positions: Array, length: int) -> Array:
    """Positions far outside as near ones: a scale of the caller's may overflow them."""
    near: Array = np.clip(np.nan_to_num(positions, nan=0.0), -length - 1, 2 * length + 1)
    return near


def grouped(taps: Taps) -> tuple[Taps, ...]:
    """Groups of taps, each with one tap at most for each row."""
    order = np.argsort(taps.rows, kind="stable")
    rows = taps.rows[order]
    number = np.arange(rows.size) - np.searchsorted(rows, rows)
    again = np.argsort(number, kind="stable")
    cuts = np.flatnonzero(np.diff(number[again])) + 1
    parts = np.split(order[again], cuts) if rows.size else []
    return tuple(Taps(*(column[part] for column in taps)) for part in parts)


def nearest(axis: Axis, shift: float) -> Taps:
    """One element each: the one whose interval the result begins in, or has its middle in (a ``shift`` of one half)."""
    rows = np.arange(axis.count)
    with np.errstate(invalid="ignore", over="ignore"):
        positions = _finite((rows.astype(axis.real) + axis.real(shift)) * axis.step, axis.length)
    places = np.clip(np.floor(positions).astype(np.int64), 0, axis.length - 1)
    return Taps(rows, places, np.ones(axis.count))


def _between(axis: Axis, centers: Array) -> tuple[Array, Array]:
    """The element in front of each position, and how far behind it the position lies, from 0 to 1."""
    before = np.minimum(np.floor(centers).astype(np.int64), axis.length - 1)
    return before, np.clip(centers - before.astype(axis.real), axis.real(0), axis.real(1))


def _side_by_side(axis: Axis, before: Array, weights: Sequence[Array]) -> Taps:
    """Taps at neighbouring elements, the first one at ``before``; those outside count for the first and the last element."""
    rows = np.tile(np.arange(axis.count), len(weights))
    places = np.concatenate([before + number for number in range(len(weights))])
    return Taps(rows, np.clip(places, 0, axis.length - 1), np.concatenate(weights).astype(np.float64))


def linear(axis: Axis) -> Taps:
    """The two neighbours."""
    before, behind = _between(axis, np.maximum(axis.centers, axis.real(0)))
    return _side_by_side(axis, before, (axis.real(1) - behind, behind))


def cubic(axis: Axis) -> Taps:
    """Four neighbours."""
    before, behind = _between(axis, axis.centers)
    distances = (behind + axis.real(1), behind, axis.real(1) - behind, axis.real(2) - behind)
    return _side_by_side(axis, before - 1, [cubic_weight(distance, -0.75) for distance in distances])


def cubic_weight(distance: Array, a: float) -> Array:
    """The cubic convolution kernel of parameter ``a`` at distances of at least 0."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    found: Array = np.where(distance <= 1, near, np.where(distance < 2, far, 0))
    return found


def smooth(axis: Axis, radius: int, weight: Callable[[Array], Array]) -> Taps:
    """All elements below a filter, which is as wide as a step where that is more than one element; their weights add up to 1."""
    step = min(axis.step, axis.real(2 * axis.length + 1))
    width = max(step, axis.real(1))
    with np.errstate(over="ignore"):
        middles = _finite((np.arange(axis.count).astype(axis.real) + axis.real(0.5)) * step, axis.length)
    low = np.maximum((middles - radius * width + axis.real(0.5)).astype(np.int64), 0)
    high = np.minimum((middles + radius * width + axis.real(0.5)).astype(np.int64), axis.length)
    sizes = np.maximum(high - low, 0)
    rows = np.repeat(np.arange(axis.count), sizes)
    places = low[rows] + np.arange(rows.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    weights = weight(np.abs(places.astype(axis.real) - middles[rows] + axis.real(0.5)) / width).astype(np.float64)
    totals = np.bincount(rows, weights=weights, minlength=axis.count)[rows]
    return Taps(rows, places, np.where(totals != 0, weights / np.where(totals != 0, totals, 1), weights))


TAPS: dict[Rule, Callable[[Axis], Taps]] = {
    Rule.NEAREST: lambda axis: nearest(axis, 0.0),
    Rule.EXACT: lambda axis: nearest(axis, 0.5),
    Rule.LINEAR: linear,
    Rule.CUBIC: cubic,
    Rule.SMOOTH_LINEAR: lambda axis: smooth(axis, 1, lambda distance: np.maximum(1 - distance, 0)),
    Rule.SMOOTH_CUBIC: lambda axis: smooth(axis, 2, lambda distance: cubic_weight(distance, -0.5)),
}


# What kernels do


def moved(values: Array, out: Array, *, axes: Sequence[Axis], first: int) -> None:
    """Elements as they are; ``first``: the first of the axes."""
    for number, axis in enumerate(axes):
        values = np.take(values, axis.taps.places, axis=first + number)
    out[...] = values


def resampled(values: Array, out: Array, *, axes: Sequence[Axis], first: int) -> None:
    """In float64, rounded once."""
    out[...] = applied(values, [(axis.forward, axis.count) for axis in axes], first)


def returned(grad: Array, out: Array, *, axes: Sequence[Axis], first: int) -> None:
    """What each element of the input gets of the gradient of the result: the transpose."""
    out[...] = applied(grad, [(axis.backward, axis.length) for axis in axes], first)


def applied(values: Array, along: Sequence[tuple[Sequence[Taps], int]], first: int) -> Array:
    """The sums that groups of taps describe, along one axis after the other; each axis gets the length that stands beside them."""
    total = values.astype(np.float64)
    for number, (groups, count) in enumerate(along):
        lines = np.moveaxis(total, first + number, 0)
        added = np.zeros((count, *lines.shape[1:]))
        for rows, places, weights in groups:
            added[rows] += lines[places] * weights.reshape(-1, *(1,) * (lines.ndim - 1))
        total = np.moveaxis(added, 0, first + number)
    return total
