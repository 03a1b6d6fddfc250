"""Work on elements that indices choose, on all threads."""

from __future__ import annotations

import ctypes
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
    geometry = (0, 1, 1, classes, 1, target.size, 0, 0, 0, 0) if source is None else _geometry(source, target.shape, axis)
    rest = (ignored, listed, 0 if listed is None else listed.itemsize, index, counted, values, weights, outside)
    if not _run("acl_emu_index_choose", target.size * _PER_TARGET, *geometry, target, *rest):
        inside = (target >= 0) & (target < classes)
        counted[...] = inside & (target != ignored)
        index[...] = np.where(counted, target, -1)
        outside[0] = (~inside & (target != ignored)).any()
        if values is not None and source is not None:
            values[...] = np.where(counted, np.take_along_axis(np.moveaxis(source, axis, -1), index[..., np.newaxis], -1)[..., 0], 0)
        if weights is not None and weight is not None:
            weights[...] = np.where(counted, weight[index], 0)
    return Chosen(index, counted, values, weights, bool(outside[0]))


def place(values: Array, index: Array, axis: int, out: Array) -> None:
    """Set each class along an axis to its value, everything else to 0; ``values`` are contiguous and of the type of ``out``."""
    if not _run("acl_emu_index_place", out.size, *_geometry(out, index.shape, axis), index, values):
        out[...] = 0
        here = np.where(index >= 0, values, 0)
        np.put_along_axis(out, np.expand_dims(np.maximum(index, 0), axis), np.expand_dims(here, axis), axis)


def take_rows(rows: Array, index: Array, out: Array) -> None:
    """``out[b, n] = rows[b, index[b, n]]``, 0 where the index is that of no row; all are contiguous, ``index`` is INT32."""
    batch, many, width = rows.shape
    if not _run("acl_emu_index_take_rows", out.size, rows, batch, many, width, rows.itemsize, index, index.shape[1], out):
        here = np.nonzero((index >= 0) & (index < many))
        out[...] = 0
        out[here] = rows[here[0], index[here]]


def subtract_rows(rows: Array, index: Array, values: Array) -> None:
    """``rows[b, index[b, n]] -= values[b, n]`` for every b and n whose index is that of a row, in order; as above, in float64."""
    batch, many, width = rows.shape
    if not _run("acl_emu_index_subtract_rows", values.size, rows, batch, many, width, rows.itemsize, index, index.shape[1], values):
        here = np.nonzero((index >= 0) & (index < many))
        np.subtract.at(rows, (here[0], index[here]), values[here])


def _geometry(array: Array, others: tuple[int, ...], axis: int) -> tuple[int | Array, ...]:
    """An array as (batch, classes, height, width), of which the other three are all axes but that of the classes."""
    merged: list[tuple[int, int]] = []
    for length, stride in zip(others, (stride for number, stride in enumerate(array.strides) if number != axis), strict=True):
        if merged and merged[-1][1] == length * stride:
            merged[-1] = (merged[-1][0] * length, stride)
        elif length != 1:
            merged.append((length, stride))
    merged = [(1, 0)] * (3 - len(merged)) + merged
    (batch, down), (height, along), (width, across) = merged
    return array, array.itemsize, batch, array.shape[axis], height, width, down, array.strides[axis], along, across
