"""Indices as the device reads them: checked, counted from the front, as numpy takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Operand, require


def within(index: Array, length: int, name: str, *, negative: bool = False) -> Array:
    """The indices as int64, counted from the front; one outside is a fault. ``negative``: those below 0 count from the end."""
    low = -length if negative else 0
    if index.size and (int(index.min()) < low or int(index.max()) >= length):
        place = tuple(int(i) for i in np.argwhere((index < low) | (index >= length))[0])
        found = f"{name}{list(place)}" if place else name
        raise DeviceFault(f"{found} is {index[place]}, outside [{low}, {length - 1}]")
    whole = index.astype(np.int64, copy=False)
    return np.where(whole < 0, whole + length, whole) if negative else whole


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
