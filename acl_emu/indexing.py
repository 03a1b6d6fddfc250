"""Work on elements that indices choose, on all threads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu import soc
from acl_emu.native.functions import function

Array = npt.NDArray[Any]

# Numbers that are worth a second thread, and how many a target counts for: what it chooses is not in the cache.
_THREADED = 1 << 15
_PER_TARGET = 4


def _run(name: str, work: int, *numbers: int | Array | None) -> bool:
    """Call a function of the engine's library with a row of numbers and addresses; False where there is none."""
    run = function(name)
    if run is None:
        return False
    row = [number.ctypes.data if isinstance(number, np.ndarray) else number or 0 for number in numbers]
    run((ctypes.c_int64 * len(row))(*row), ctypes.c_int64(soc.threads() if work >= _THREADED else 1))
    return True


def row_products(a: Array, b: Array, rows: Array, others: Array) -> Array:
    """``a[rows[n]] @ b[others[n]]`` for every n, in float64; ``a`` and ``b`` are contiguous FLOAT matrices."""
    result = np.empty(len(rows))
    width = a.shape[1]
    if not _run("acl_emu_index_dots", width * len(rows), a, b, width, len(rows), rows, others, result):
        for n, (row, other) in enumerate(zip(rows, others, strict=True)):
            result[n] = a[row].astype(np.float64) @ b[other].astype(np.float64)
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
    target = np.asarray(target, np.int64, order="C")
    index, counted, outside = np.empty(target.shape, np.int64), np.empty(target.shape, np.bool_), np.zeros(1, np.int64)
    values = None if source is None else np.empty(target.shape, source.dtype)
    weights = None if weight is None else np.empty(target.shape, weight.dtype)
    listed = None if weight is None else np.ascontiguousarray(weight)
    strides, class_stride, item = ((0,) * target.ndim, 0, 0) if source is None else (source.strides, source.strides[axis], source.itemsize)
    pixels, (steps,) = pixel_space(target.shape, strides if source is None else without(strides, axis))
    given = (source, item, *steps, class_stride, target, ignored, listed, 0 if listed is None else listed.itemsize)
    if not _run("acl_emu_index_choose", target.size * _PER_TARGET, *pixels, classes, *given, index, counted, values, weights, outside):
        inside = (target >= 0) & (target < classes)
        counted[...] = inside & (target != ignored)
        index[...] = np.where(counted, target, -1)
        outside[0] = (~inside & (target != ignored)).any()
        if values is not None and source is not None:
            values[...] = np.where(counted, np.take_along_axis(np.moveaxis(source, axis, -1), index[..., np.newaxis], -1)[..., 0], 0)
        if weights is not None and weight is not None:
            weights[...] = np.where(counted, weight[index], 0)
    return Chosen(index, counted, values, weights, bool(outside[0]))


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
