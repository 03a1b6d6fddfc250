"""Updates that are written to a part of each batch, from an index on: caches that grow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Operand, Plan, require
from aclnnop.index.places import within
from aclnnop.index.scattering import Changes, changed

Converted = Callable[..., Array]


def check_windows(self: Operand, indices: Operand, updates: Operand, axis: int, name: str = "axis") -> int:
    """The axis, counted from the front; 161002 where it is the first one, or shapes do not fit."""
    rank = self.rank
    require(updates.rank == rank, f"{updates.name} has {updates.rank} dimensions, expected as many as {self.name}: {rank}")
    require(-rank < axis < rank and axis != 0, f"{name} is {axis}, expected a value in [{1 - rank}, {rank - 1}] that is not 0")
    axis %= rank
    batches = indices.shape[0] if indices.rank else 1
    fits = updates.shape[0] == batches and (indices.rank == 2 or batches <= self.shape[0])
    require(
        fits,
        f"{updates.name} has shape {list(updates.shape)}, expected {batches} batches, as {indices.name}, and at most {self.shape[0]}",
    )
    require(indices.rank < 2 or indices.shape[1] == 2, f"{indices.name} has shape {list(indices.shape)}, expected pairs")
    own, other = ([length for place, length in enumerate(one.shape) if place not in (0, axis)] for one in (self, updates))
    require(
        own == other and updates.shape[axis] <= self.shape[axis],
        f"{updates.name} has shape {list(updates.shape)}, expected that of {self.name} but for fewer in dimensions 0 and {axis}: "
        f"{list(self.shape)}",
    )
    return axis


def written(self: Operand, indices: Operand, updates: Operand, axis: int, *more: Operand | None, convert: Converted | None = None) -> Plan:
    """``updates``, as ``convert(updates, *more)`` makes them, from the indices on along ``axis``: one for each batch, or pairs."""
    return changed(
        windows,
        self,
        (indices, updates, *more),
        self,
        axes=(0, axis),
        indices=indices.name,
        once=True,
        axis=axis,
        name=indices.name,
        convert=convert,
    )


def windows(source: Array, indices: Array, updates: Array, *more: Array | None, axis: int, name: str, convert: Converted | None) -> Changes:
    """A pair is the number of a batch, and where its window begins."""
    values = updates if convert is None else convert(updates, *more)
    ahead = np.moveaxis(values, (0, axis), (0, 1))
    count, length = ahead.shape[:2]
    paired = indices.ndim == 2
    batches = within(indices[:, 0], source.shape[0], name, behind=(0,)) if paired else np.arange(count)
    begin = within(indices[:, 1] if paired else indices.reshape(-1), source.shape[1] - length + 1, name, behind=(1,) if paired else ())
    key = np.broadcast_arrays(batches[:, np.newaxis], begin[:, np.newaxis] + np.arange(length))
    return Changes(tuple(one.reshape(-1) for one in key), ahead.reshape(count * length, *ahead.shape[2:]))


def listed(indice: Array, updates: Array, mask: Array | None, *targets: Array, axis: int, name: str) -> None:
    """A window for each tensor of a list; a pair is where it begins, and its length."""
    length = updates.shape[axis]
    paired = indice.ndim == 2
    lengths = within(indice[:, 1], length + 1, name, behind=(1,)) if paired else np.full(len(targets), length)
    parts = []
    for place, target in enumerate(targets):
        if mask is not None and not mask[place]:
            continue
        begin, count = int(indice[place, 0] if paired else indice[place]), int(lengths[place])
        most = target.shape[axis - 1] - count
        if not 0 <= begin <= most:
            raise DeviceFault(f"{name}{[place, 0] if paired else [place]} is {begin}, outside [0, {most}]")
        ahead = (slice(None),) * (axis - 1)
        parts.append((target[(*ahead, slice(begin, begin + count))], updates[place][(*ahead, slice(count))]))
    for part, values in parts:
        part[...] = values
