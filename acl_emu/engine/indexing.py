"""Work on elements that indices choose."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.core import soc
from acl_emu.engine.functions import function

Array = npt.NDArray[Any]

# Numbers that are worth a second thread.
_THREADED = 1 << 15


def row_products(a: Array, b: Array, rows: Array, others: Array) -> Array:
    """``a[rows[n]] @ b[others[n]]`` for every n, in float64; ``a`` and ``b`` are contiguous FLOAT matrices."""
    result = np.empty(len(rows))
    width = a.shape[1]
    run = function("acl_emu_index_dots")
    if run is None:
        for n, (row, other) in enumerate(zip(rows, others, strict=True)):
            result[n] = a[row].astype(np.float64) @ b[other].astype(np.float64)
        return result
    numbers = (a.ctypes.data, b.ctypes.data, width, len(rows), *(array.ctypes.data for array in (rows, others, result)))
    run((ctypes.c_int64 * len(numbers))(*numbers), ctypes.c_int64(soc.threads() if width * len(rows) >= _THREADED else 1))
    return result


class Chosen(NamedTuple):
    """What targets choose, for each of them."""

    classes: Array
    """Its class, -1 where it does not count: it is ignored, or outside the classes."""
    counted: Array
    """Whether it counts."""
    values: Array | None
    """What stands at its class, 0 where it does not count."""
    weights: Array | None
    """The weight of its class, 0 where it does not count."""
    outside: bool
    """Whether one that is not ignored is outside the classes."""


def choose(target: Array, classes: int, ignored: int, source: Array | None, axis: int, weight: Array | None) -> Chosen:
    """Classes along an axis of ``source`` by ``target``, which has its other axes; either array may be None."""
    target = target.astype(np.int64, copy=False)
    inside = (target >= 0) & (target < classes)
    counted = inside & (target != ignored)
    index = np.where(counted, target, -1)
    values = weights = None
    if source is not None:
        values = np.where(counted, np.take_along_axis(np.moveaxis(source, axis, -1), index[..., np.newaxis], -1)[..., 0], 0)
    if weight is not None:
        weights = np.where(counted, weight[index], 0)
    return Chosen(index, counted, values, weights, bool((~inside & (target != ignored)).any()))


def pixel_space(lengths: Sequence[int], *strides: Sequence[int]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Up to three axes that arrays share as (batch, height, width), neighbours as one where all arrays allow it; the strides of each."""
    merged: list[tuple[int, tuple[int, ...]]] = []
    for length, each in zip(lengths, zip(*strides, strict=True), strict=True):
        if merged and merged[-1][1] == tuple(length * stride for stride in each):
            merged[-1] = (merged[-1][0] * length, each)
        elif length != 1:
            merged.append((length, each))
    merged = [(1, (0,) * len(strides))] * (3 - len(merged)) + merged
    return tuple(length for length, _ in merged), list(zip(*(each for _, each in merged), strict=True))


def without(row: Sequence[int], axis: int) -> tuple[int, ...]:
    """All but one of the numbers that an array has for each axis."""
    return (*row[:axis], *row[axis + 1 :])
