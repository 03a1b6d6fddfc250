"""Distances between points, by any norm: formulas and plans."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from acl_emu.core import dtypes
from acl_emu.spec import Array, Operand, Plan, direct, nothing, require, same_dtype, shape_is

LARGEST_PIECE = 1 << 21
"""Differences that are held at a time."""


def require_norm(name: str, p: float) -> None:
    """A norm that there is."""
    require(p >= 0, f"{name} is {p}, expected a value of at least 0")


def norm(differences: Array, p: float) -> Array:
    """Of the last axis: how many are not 0, their sum, the largest, or the root of a sum of powers, which does not overflow."""
    size: Array = np.abs(differences)
    if p == 0:
        return np.asarray(np.count_nonzero(size, axis=-1), size.dtype)
    if p == 1:
        return np.asarray(size.sum(axis=-1))
    if p == 2:
        return np.asarray(np.sqrt(np.square(size).sum(axis=-1)))
    largest = size.max(axis=-1, initial=0)
    if math.isinf(p):
        return np.asarray(largest)
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1)
    found: Array = unit * np.power(np.power(size / unit[..., np.newaxis], p).sum(axis=-1), 1 / p)
    return found


def row_pieces(rows: int, each: int) -> Iterator[slice]:
    """Rows whose differences, so many for each, are not too many."""
    step = max(1, LARGEST_PIECE // max(1, each))
    return (slice(begin, begin + step) for begin in range(0, rows, step))


def pairs(self: Operand, p: float, name: str, out: Operand) -> Plan:
    """The distance of every two rows."""
    same_dtype(self, out)
    rows = self.shape[0]
    shape_is(out, (rows * (rows - 1) // 2,), "one for every two rows")
    require_norm(name, p)
    return nothing() if out.size == 0 else direct(between_rows, reads=(self,), writes=(out,), scratch={}, p=p)


def between_rows(points: Array, out: Array, *, p: float) -> None:
    """Of each row to those behind it."""
    wide = points.astype(np.float64)
    rows = len(wide)
    found = np.empty(out.shape)
    begin = 0
    for row in range(rows - 1):
        end = begin + rows - 1 - row
        found[begin:end] = norm(wide[row] - wide[row + 1 :], p)
        begin = end
    out[...] = dtypes.round_to(found, dtypes.from_numpy(out.dtype))
