"""The family of operators that sort slices along a dimension, or pick elements by their rank.

The order is total, so that every result is determined: NaN is larger than everything, and of equal elements the first one comes first,
whichever way they are sorted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, DType
from acl_emu.engine.calls import MOST_OPERANDS, code_of, done_by
from acl_emu.engine.functions import function
from acl_emu.engine.program import DTYPES
from acl_emu.spec import Array, Example, Operand, Operator, Plan, Product, direct, nothing, numbers, shape_is, wrap_dim
from acl_emu.spec.kinds import TensorKind

SORTED = (BF16, FLOAT16, FLOAT, INT8, INT16, INT32, INT64, UINT8)
UNSIGNED = (UINT16, UINT32, UINT64)


def with_unsigned(*types: DType) -> dict[Product, tuple[DType, ...]]:
    """What 950 sorts beside them."""
    return {Product.A950: (*types, *UNSIGNED)}


def ordered(
    self: Operand, dim: int, ranks: range, shape: Sequence[int], values: Operand | None, indices: Operand, *, descending: bool
) -> Plan:
    """The elements of each slice along ``dim`` that have these ranks, and where they are; ``shape`` is that of both results."""
    axis = wrap_dim(dim, self)
    for out in filter(None, (values, indices)):
        shape_is(out, shape, f"{self.name} with {len(ranks)} elements along dim")
    if 0 in indices.shape:
        return nothing()
    row = self if self.rank else self.in_view((1,))
    sorting = Sorting(row.shape[axis], ranks, row.size, row.dtype.numpy.itemsize)
    plan = direct(
        pick,
        reads=(row,),
        writes=(values, indices),
        scratch={"items": ((sorting.slots * sorting.space,), sorting.item)},
        axis=axis,
        ranks=ranks,
        descending=descending,
    )
    outs = [out if out.rank == row.rank else out.in_view(*_with_axis(out, axis)) for out in (values, indices) if out is not None]
    strides = [operand.view.layout.strides for operand in (row, *outs)]
    numbers = sorting.numbers(code_of(row.dtype), row.shape, axis, strides, descending=descending)
    return done_by("acl_emu_sort_rows", plan, numbers, threaded=row.size >= _THREADED)


class Sorting:
    """How rows are sorted, and the space for that: whole ones, or what has the first ranks; each by one thread, or long ones by all.

    Known to acl_emu/engine/c/index_sort.c.
    """

    def __init__(self, length: int, ranks: range, size: int, itemsize: int) -> None:
        rows = size // length
        self.length = length
        self.item = np.dtype(np.uint64) if itemsize < 8 else np.dtype([("key", np.uint64), ("place", np.uint64)])
        self.selects = 4 * ranks.stop <= length
        self.chunked = length >= _LONG and rows < _CHUNKS
        self.slots = 1 if self.chunked else min(rows, _CHUNKS)
        self.capacity = max(2 * ranks.stop, _LEAST_CAPACITY)
        self.space = 2 * length if not self.selects else self.capacity * (_CHUNKS if self.chunked else 1)
        self.ranks = ranks
        self.rows = rows

    def numbers(self, code: int, shape: Sequence[int], axis: int, strides: Sequence[Sequence[int]], *, descending: bool) -> tuple[int, ...]:
        """What C has to know; ``strides`` in bytes are those of the rows, of values where there are any, and of indices."""
        along = [one[axis] for one in strides]
        across = [_padded([step for place, step in enumerate(one) if place != axis]) for one in strides]
        lengths = [length for place, length in enumerate(shape) if place != axis]
        return (
            *(code, descending, self.length, self.ranks.start, self.ranks.stop, self.selects, self.chunked, len(strides) == 3),
            *(self.rows, self.slots, self.space, self.capacity, along[0], along[1], along[-1]),
            *(len(lengths), *_padded(lengths), *across[0], *across[1], *across[-1]),
        )


_CHUNKS = 8
_LONG = 1 << 16
_LEAST_CAPACITY = 128
_THREADED = 1 << 13
_MOST_DIMS = 8
_HEAD = 3 + MOST_OPERANDS
"""Numbers in front, which describe operands in device memory."""


def _with_axis(out: Operand, axis: int) -> tuple[list[int], list[int]]:
    """Shape and strides of an output that lacks the axis, with it."""
    shape, strides = list(out.shape), list(out.view.strides)
    shape.insert(axis, 1)
    strides.insert(axis, 1)
    return shape, strides


def _padded(lengths: list[int]) -> list[int]:
    return lengths + [0] * (_MOST_DIMS - len(lengths))


def pick(values: Array, found: Array | None, places: Array, *, items: Array, axis: int, ranks: range, descending: bool) -> None:
    """Sort, and store what is asked for; the space for ``items`` is that of the function in C."""
    chosen = np.take(order_in_numpy(values, axis, descending=descending), ranks, axis=axis)
    places[...] = chosen.reshape(places.shape)
    if found is not None:
        found[...] = np.take_along_axis(values, chosen, axis).reshape(found.shape)


def order(values: Array, axis: int, *, descending: bool) -> Array:
    """The indices that sort the slices."""
    run = function("acl_emu_order_rows")
    if run is None or not values.size:
        return order_in_numpy(values, axis, descending=descending)
    length = values.shape[axis]
    sorting = Sorting(length, range(length), values.size, values.dtype.itemsize)
    places, items = np.empty(values.shape, np.int64), np.empty(sorting.slots * sorting.space, sorting.item)
    code = DTYPES.index(values.dtype.name)
    numbers = sorting.numbers(code, values.shape, axis, (values.strides, places.strides), descending=descending)
    memory = np.array([array.ctypes.data for array in (values, places, items)], np.uintp)
    told = np.array([*[0] * _HEAD, *numbers], np.int64)
    run(*map(ctypes.c_void_p, (told.ctypes.data, memory.ctypes.data)), ctypes.c_int64(soc.threads() if values.size >= _THREADED else 1))
    return places


def order_in_numpy(values: Array, axis: int, *, descending: bool) -> Array:
    """The same, which defines it."""
    comparable = values.astype(np.float32) if values.dtype.itemsize == 2 and values.dtype.kind not in "iu" else values  # numpy has no BF16
    if not descending:
        return np.argsort(comparable, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(comparable, axis), axis=axis, kind="stable")
    return np.flip(values.shape[axis] - 1 - backwards, axis)


def along(operand: Operand, dim: int, count: int) -> tuple[int, ...]:
    """The shape of the operand with another length in one dimension."""
    axis = wrap_dim(dim, operand)
    return tuple(count if one == axis else length for one, length in enumerate(operand.shape))


def length_along(operand: Operand, dim: int) -> int:
    """How many elements a slice has; a number is a slice of one."""
    return operand.shape[wrap_dim(dim, operand)] if operand.rank else 1


def ordering_examples(operator: Operator, shape: Any, **others: Sequence[Any]) -> Iterator[Example]:
    """Along every dimension, of several types, with ties; ``shape(dim, index)`` is that of the results."""
    taken = next(kind for _, kind in operator.parameters if isinstance(kind, TensorKind))
    for index, dtype in enumerate(one for one in (FLOAT, BF16, INT32, DOUBLE, UINT8) if one in taken.allowed):
        dim = index % 3
        example: Example = {"dim": dim}
        for name, kind in operator.parameters:
            if isinstance(kind, TensorKind) and kind.io == "out":
                example[name] = numbers(shape(dim, index), dtype if dtype in kind.allowed else INT64, 2)
            elif isinstance(kind, TensorKind):
                example[name] = numbers((3, 4, 5), dtype, 1, 3)
            elif name in others:
                example[name] = others[name][index % len(others[name])]
        yield {name: example[name] for name, _ in operator.parameters}
