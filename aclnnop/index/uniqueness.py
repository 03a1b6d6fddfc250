"""The family of operators that drop what occurs again: which elements or slices are left, where they went, how often they occurred."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from acl_emu.spec import Array, Example, Operand, Operator, Plan, between, numbers, sized
from acl_emu.spec.kinds import BoolKind, TensorKind
from aclnnop.math.ordering import order

TYPES = (BOOL, FLOAT, FLOAT16, DOUBLE, UINT8, INT8, UINT16, INT16, INT32, UINT32, UINT64, INT64, BF16)


def unique(self: Operand, axis: int | None, value: Operand, inverse: Operand | None, counts: Operand | None, *, adjacent: bool) -> Plan:
    """What is different of all elements, or of the slices at the indices of ``axis``, in order; with ``adjacent`` of neighbours, in place.

    Outputs that are not wanted are None. Each NaN differs from every other one.
    """

    def kernel(values: Array) -> tuple[Array, ...]:
        rows = values.reshape(-1, 1) if axis is None or not values.ndim else np.moveaxis(values, axis, 0)
        flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        firsts, places, times = distinct(flat, None if adjacent else sorted_rows(flat))
        left = values.reshape(-1)[firsts] if axis is None or not values.ndim else np.take(values, firsts, axis)
        results = (left, places.reshape(values.shape) if axis is None else places, times)
        return tuple(result for result, wanted in zip(results, (value, inverse, counts), strict=True) if wanted is not None)

    return sized(kernel, reads=(self,), writes=[out for out in (value, inverse, counts) if out is not None])


def sorted_rows(rows: Array) -> Array:
    """The order of rows by their first columns; equal ones stay as they are."""
    if rows.shape[1] == 1:
        return order(rows[:, 0], 0, descending=False)
    return np.lexsort(rows.astype(np.float32 if rows.dtype.kind == "V" else rows.dtype).T[::-1]) if rows.size else np.arange(len(rows))


def distinct(rows: Array, ranks: Array | None) -> tuple[Array, Array, Array]:
    """Where the first of equal neighbours are, which of these each row equals, how many there are; ``ranks`` puts the rows in order."""
    ranked = rows if ranks is None else rows[ranks]
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    group = np.cumsum(begins) - 1
    counts = np.diff(np.append(starts, len(rows)))
    if ranks is None:
        return starts, group, counts
    inverse = np.empty(len(rows), np.int64)
    inverse[ranks] = group
    return ranks[starts], inverse, counts


def unique_examples(operator: Operator, shapes: dict[str, tuple[int, ...]], **others: Sequence[Any]) -> Iterator[Example]:
    """Numbers that occur again; ``shapes`` are those of the outputs."""
    for index, dtype in enumerate((FLOAT, BF16, INT64)):
        example: Example = {"self": between(0, 3, (4, 3), INT32, index).astype(dtype.numpy)}
        for name, kind in operator.parameters:
            if isinstance(kind, TensorKind) and kind.io == "out":
                example[name] = numbers(shapes[name], dtype if name == "valueOut" else INT64, 2)
            elif name in others:
                example[name] = others[name][index % len(others[name])]
            elif isinstance(kind, BoolKind):
                example[name] = index != 1
        yield {name: example[name] for name, _ in operator.parameters}
