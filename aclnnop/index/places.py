"""Indices as the device reads them: checked, counted from the front, as numpy takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BOOL
from acl_emu.core.errors import DeviceFault
from acl_emu.engine.numeric import to_integers
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Operand, require, scalar_castable, shape_is


def within(index: Array, length: int, name: str, *, negative: bool = False, behind: tuple[int, ...] = ()) -> Array:
    """The indices as int64, counted from the front; one outside is a fault. ``negative``: those below 0 count from the end.

    ``behind`` is what follows the place of an index in the text, where ``index`` is a part of a tensor.
    """
    text = outside(index, length, name, negative=negative, behind=behind)
    if text:
        raise DeviceFault(text)
    whole = index.astype(np.int64, copy=False)
    return np.where(whole < 0, whole + length, whole) if negative else whole


def outside(index: Array, length: int, name: str, *, negative: bool = False, behind: tuple[int, ...] = ()) -> str:
    """What to say of the first index that is outside; empty where none is."""
    low = -length if negative else 0
    if not index.size or (int(index.min()) >= low and int(index.max()) < length):
        return ""
    place = tuple(int(i) for i in np.argwhere((index < low) | (index >= length))[0])
    shown = [*place, *behind]
    return f"{name}{shown if shown else ''} is {index[place]}, outside [{low}, {length - 1}]"


def along(index: Array, axis: int) -> tuple[Array, ...]:
    """The coordinates of the elements that ``index`` chooses along an axis, each at its own place along the others."""
    own = np.ogrid[tuple(slice(length) for length in index.shape)]
    return tuple(np.broadcast_to(index if other == axis else grid, index.shape).reshape(-1) for other, grid in enumerate(own))


def as_row(array: Array) -> Array:
    """A number as a row of one."""
    return array.reshape(1) if array.ndim == 0 else array


def flat(coordinates: Sequence[Array], lengths: Sequence[int]) -> Array:
    """One number for each place in axes of these lengths."""
    total = np.zeros(coordinates[0].shape, np.int64)
    for one, length in zip(coordinates, lengths, strict=True):
        total = total * length + one
    return total


def tuples(indices: Array, lengths: Sequence[int], name: str, *, negative: bool = False) -> list[Array]:
    """The last axis of ``indices`` has a coordinate for each of the first axes of a tensor: one array for each, in a row."""
    return [
        within(indices[..., axis], lengths[axis], name, negative=negative, behind=(axis,)).reshape(-1) for axis in range(indices.shape[-1])
    ]


def check_beside(self: Operand, *others: Operand) -> None:
    """161002 for another number of dimensions; a number counts as a row of one."""
    for other in others:
        require(
            max(other.rank, 1) == max(self.rank, 1),
            f"{other.name} has {other.rank} dimensions, expected as many as {self.name}: {self.rank}",
        )


def check_no_longer(index: Operand, other: Operand, axis: int | None = None) -> None:
    """161002 where there are more indices than elements along a dimension; along ``axis`` there may be."""
    for place, (count, length) in enumerate(zip(index.shape, other.shape, strict=False)):
        require(
            place == axis or count <= length,
            f"{index.name} has shape {list(index.shape)}, expected at most {length} along dimension {place}, as {other.name}",
        )


def check_tuples(self: Operand, indices: Operand) -> int:
    """How many dimensions of ``self`` an index chooses from; 161002 where it has more, or none."""
    require(indices.rank > 0, f"{indices.name} has 0 dimensions, expected 1 to 8")
    count = indices.shape[-1]
    require(
        1 <= count <= self.rank,
        f"{indices.name} has shape {list(indices.shape)}, expected 1 to {self.rank} coordinates in its last dimension, as {self.name} has",
    )
    return count


def check_updates(self: Operand, indices: Operand, updates: Operand, count: int) -> None:
    """161002 for updates that are not one slice for each tuple of ``count`` indices."""
    shape_is(updates, (*indices.shape[:-1], *self.shape[count:]), f"a slice of {self.name} for each tuple of {indices.name}")


def check_number(value: Scalar, name: str, self: Operand) -> None:
    """161002 for a number that cannot be cast to the type of ``self``; truth values take every real one."""
    if self.dtype is not BOOL or value.dtype.kind == "complex":
        scalar_castable(value, name, self.dtype)


def as_element(value: Scalar, name: str, self: Operand) -> Any:
    """A number as an element of ``self``: towards zero where that holds integers; 161002 for a complex one in a real type."""
    dtype = self.dtype
    require(
        value.dtype.kind != "complex" or dtype.kind == "complex",
        f"{name} has dtype {value.dtype}, expected a real one for {self.name} of dtype {dtype}",
    )
    cut = value.dtype.kind == "float" and dtype.kind == "integer"
    number = to_integers(np.asarray(value.value), dtype) if cut else value.converted(dtype)
    return np.asarray(number).astype(dtype.numpy)[()]
