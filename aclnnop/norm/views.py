"""Tensors in another shape, without a copy: groups of channels, one factor for each row or channel, one half of every row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from acl_emu.core.dtypes import FLOAT
from acl_emu.runtime.tensor import Shape, make_view
from acl_emu.spec import Array, Operand, Plan, mapped, shape_is

Placed = tuple[Operand, Shape]
"""An operand, and the shape that a kernel sees it in."""


def in_shapes(
    inner: Callable[..., Any], *, reads: Sequence[tuple[Operand | None, Shape]], writes: Sequence[Placed], **attributes: Any
) -> Plan:
    """``mapped`` in FLOAT, for a kernel that sees its operands in other shapes; results are rounded once, to the type of the output."""
    taken = [None if operand is None else viewed(operand, shape) for operand, shape in reads]
    given = [viewed(operand, shape) for operand, shape in writes]
    return mapped(
        reshaping,
        reads=taken,
        writes=given,
        dtype=FLOAT,
        raw=given,
        inner=inner,
        shapes=tuple(shape for _, shape in reads),
        onto=tuple(operand.shape for operand in given),
        **attributes,
    )


def reshaping(
    *arrays: Array | None, inner: Callable[..., Any], shapes: tuple[Shape, ...], onto: tuple[Shape, ...], **attributes: Any
) -> tuple[Array, ...]:
    """The kernel, between arrays whose strides may not allow another shape."""
    results = inner(*(array if array is None else array.reshape(shape) for array, shape in zip(arrays, shapes, strict=True)), **attributes)
    return tuple(result.reshape(shape) for result, shape in zip(results, onto, strict=True))


def viewed(operand: Operand, shape: Shape) -> Operand:
    """The same elements in another shape; where strides do not allow that, the operand as it is."""
    if operand.contiguous:
        return operand.in_view(shape)
    strides = regrouped(operand.shape, operand.view.strides, shape)
    return operand if strides is None else operand.in_view(shape, strides)


def regrouped(shape: Shape, strides: Shape, wanted: Shape) -> Shape | None:
    """The strides of as many elements in another shape; None where there are none."""
    runs: list[tuple[int, int]] = []
    for length, stride in zip(shape, strides, strict=True):
        if length != 1:
            follows = bool(runs) and runs[-1][1] == length * stride
            runs.append((runs.pop()[0] * length, stride) if follows else (length, stride))
    found: list[int] = []
    left, step = 1, 0
    for length in reversed(wanted):
        if length != 1 and left == 1:
            if not runs:
                return None
            left, step = runs.pop()
        if left % length:
            return None
        found.append(step)
        left, step = left // length, step * length
    return tuple(reversed(found)) if left == 1 and not runs else None


def along(operand: Operand, rank: int, axis: int) -> Operand:
    """A row of factors as one that broadcasts along one axis of so many."""
    shape, strides = [1] * rank, [0] * rank
    shape[axis], strides[axis] = operand.shape[0], operand.view.strides[0]
    return operand.in_view(shape, strides)


def slice_of(operand: Operand, axis: int, start: int, length: int, step: int = 1) -> Operand:
    """Some of the elements along an axis: ``length`` of them, from ``start`` on."""
    view = operand.view
    shape, strides = list(view.shape), list(view.strides)
    offset = view.offset + start * strides[axis]
    shape[axis], strides[axis] = length, strides[axis] * step
    return Operand(operand.name, make_view(shape, view.dtype_code, strides, offset, view.format, view.storage), operand.place)


def one_for_each_row(statistic: Operand, shape: Sequence[int]) -> Operand:
    """A statistic in this shape. A device writes one element after the other into contiguous memory, whatever the dimensions are called."""
    if statistic.contiguous and statistic.size >= math.prod(shape):
        return statistic.in_view(shape)
    shape_is(statistic, shape, "one element for each row, with length 1 in the normalised dimensions")
    return statistic
