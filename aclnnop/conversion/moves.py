"""What operators that move elements share: parts of tensors as tensors, copies of them, and kernels that only rearrange.

A move that strides can describe is a copy between two views, which the engine does; any other one is a numpy function of whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    FLOAT,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT16,
    HIFLOAT8,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from acl_emu.runtime.tensor import IntArray, Shape, make_view
from acl_emu.spec import Array, Operand, Plan, Product, cast_directly, direct, mapped, nothing, require, wrap_dim
from aclnnop.math.arithmetic import NUMBERS
from aclnnop.math.unary import unchanged

WIDE = (*NUMBERS, UINT16, UINT32, UINT64)
SIMPLE = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, BOOL, BF16, FLOAT, FLOAT16)
"""All of these but the widest and complex ones."""
EIGHTS = (HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN)
NEWER = frozenset({Product.A950, Product.A3, Product.A2})
TRAINING = NEWER | {Product.A910}
EVERY = TRAINING | {Product.A310P}
"""All products but Ascend310B."""


def window(operand: Operand, shape: Sequence[int], strides: Sequence[int], shift: int = 0) -> Operand:
    """Some elements of a tensor as a tensor: ``shift`` elements behind its first."""
    view = operand.view
    made = make_view(shape, view.dtype_code, strides, view.offset + shift, view.format, view.storage)
    return Operand(operand.name, made, operand.place, is_output=operand.is_output)


def narrowed(operand: Operand, axis: int, start: int, length: int, step: int = 1) -> Operand:
    """The slices from ``start`` on along an axis."""
    shape, strides = list(operand.shape), list(operand.view.strides)
    shift = start * strides[axis]
    shape[axis], strides[axis] = length, strides[axis] * step
    return window(operand, shape, strides, shift if length else 0)


def mirrored(operand: Operand, axes: Sequence[int]) -> Operand:
    """All elements in reverse order along some axes: for the engine alone, which takes negative strides."""
    strides = list(operand.view.strides)
    shift = sum((operand.shape[axis] - 1) * strides[axis] for axis in axes)
    for axis in axes:
        strides[axis] = -strides[axis]
    return window(operand, operand.shape, strides, shift)


def copied(source: Operand, target: Operand) -> Plan:
    """A copy between tensors of one shape and one type."""
    if 0 in target.shape:
        return nothing()
    return cast_directly(direct(copy, reads=(source,), writes=(target,), scratch={}))


def converted_copy(source: Operand, target: Operand, via: DType) -> Plan:
    """A copy between tensors of one shape, by way of a type."""
    if source.dtype is target.dtype is via:
        return copied(source, target)
    return mapped(unchanged, reads=(source,), writes=(target,), dtype=via)


def rearranged(kernel: Callable[..., Array], reads: Sequence[Operand], out: Operand, **attributes: Any) -> Plan:
    """``out = kernel(*reads, **attributes)`` without any change of types."""
    if 0 in out.shape:
        return nothing()
    return direct(store, reads=reads, writes=(out,), scratch={}, function=kernel, attributes=attributes)


def wrapped_axes(dims: IntArray, operand: Operand, name: str) -> Shape:
    """Dimensions counted from either end, each once."""
    axes = tuple(wrap_dim(dim, operand, name) for dim in dims.values)
    require(len(set(axes)) == len(axes), f"{name} is {dims}, expected every dimension once for {operand.name} of {operand.rank} dimensions")
    return axes


def copy(source: Array, target: Array) -> None:
    """As it is."""
    target[...] = source


def store(*arrays: Array, function: Callable[..., Array], attributes: dict[str, Any]) -> None:
    """What the function makes of all arrays but the last, into the last."""
    arrays[-1][...] = function(*arrays[:-1], **attributes)
