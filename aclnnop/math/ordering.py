"""The family of operators that sort slices along a dimension, or pick elements by their rank.

The order is total, so that every result is determined: NaN is larger than everything, and of equal elements the first one comes first,
whichever way they are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, DType
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
    return direct(pick, reads=(row,), writes=(values, indices), scratch={}, axis=axis, ranks=ranks, descending=descending)


def pick(values: Array, found: Array | None, places: Array, *, axis: int, ranks: range, descending: bool) -> None:
    """Sort, and store what is asked for."""
    chosen = np.take(order(values, axis, descending=descending), ranks, axis=axis)
    places[...] = chosen.reshape(places.shape)
    if found is not None:
        found[...] = np.take_along_axis(values, chosen, axis).reshape(found.shape)


def order(values: Array, axis: int, *, descending: bool) -> Array:
    """The indices that sort the slices."""
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
