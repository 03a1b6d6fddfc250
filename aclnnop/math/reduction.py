"""What reductions along dimensions share: which dimensions, the shape of the result, and the largest element."""

from collections.abc import Sequence

from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import Array, Operand, require, wrap_dim


def reduced_axes(dims: IntArray, operand: Operand, name: str) -> tuple[int, ...]:
    """The listed dimensions, counted from the front, each once; all where none is listed."""
    axes = [wrap_dim(dim, operand, name) for dim in dims.values]
    require(len(set(axes)) == len(axes), f"{name} is {dims}, expected every dimension once for {operand.name} of {operand.rank} dimensions")
    return tuple(sorted(axes)) if axes else tuple(range(operand.rank))


def reduced_shape(operand: Operand, axes: Sequence[int], keep: bool) -> tuple[int, ...]:
    """What is left of the shape; a kept dimension has length 1."""
    return tuple(1 if axis in axes else length for axis, length in enumerate(operand.shape) if keep or axis not in axes)


def largest(values: Array, *, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """The largest element of each slice; NaN is larger than everything."""
    found: Array = (values.max(axis=axes) if values.ndim else values).reshape(shape)
    return found
