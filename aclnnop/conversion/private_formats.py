"""Formats in blocks: the axes that a tensor has in each, and how its elements get there and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from acl_emu.core.constants import (
    ACL_FORMAT_FRACTAL_NZ,
    ACL_FORMAT_FRACTAL_NZ_C0_2,
    ACL_FORMAT_FRACTAL_NZ_C0_4,
    ACL_FORMAT_FRACTAL_NZ_C0_8,
    ACL_FORMAT_FRACTAL_NZ_C0_16,
    ACL_FORMAT_FRACTAL_NZ_C0_32,
    ACL_FORMAT_FRACTAL_Z,
    ACL_FORMAT_HWCN,
    ACL_FORMAT_NC1HWC0,
    ACL_FORMAT_NCDHW,
    ACL_FORMAT_NCHW,
    ACL_FORMAT_NDC1HWC0,
    ACL_FORMAT_NDHWC,
    ACL_FORMAT_NHWC,
    ACL_FRACTAL_Z_3D,
)
from acl_emu.spec import Array

ROWS = 16
"""Rows of a block."""
NZ_COLUMNS = {
    ACL_FORMAT_FRACTAL_NZ_C0_2: 2,
    ACL_FORMAT_FRACTAL_NZ_C0_4: 4,
    ACL_FORMAT_FRACTAL_NZ_C0_8: 8,
    ACL_FORMAT_FRACTAL_NZ_C0_16: 16,
    ACL_FORMAT_FRACTAL_NZ_C0_32: 32,
}
"""Columns of a block, where the format says so."""
MATRICES = frozenset({ACL_FORMAT_FRACTAL_NZ, *NZ_COLUMNS})

DHWCN = 31
"""A format that the headers have no name for."""
_ORDERS = {
    ACL_FORMAT_NCHW: "NCHW",
    ACL_FORMAT_NHWC: "NHWC",
    ACL_FORMAT_HWCN: "HWCN",
    ACL_FORMAT_NCDHW: "NCDHW",
    ACL_FORMAT_NDHWC: "NDHWC",
    DHWCN: "DHWCN",
}


class Blocks(NamedTuple):
    """A format with channels, or channels and filters, in blocks."""

    outer: str
    """The axes as they follow each other, C1 as ``c``, N1 as ``n``; those within a block come behind."""
    joined: int
    """How many of the first are one axis of the storage shape."""
    filters: bool
    """Whether blocks have 16 filters, too."""
    plain: frozenset[int]
    """The formats that it comes from."""


CHANNELS = {
    ACL_FORMAT_NC1HWC0: Blocks("NcHW", 1, False, frozenset({ACL_FORMAT_NCHW, ACL_FORMAT_NHWC})),
    ACL_FORMAT_NDC1HWC0: Blocks("NDcHW", 1, False, frozenset({ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC})),
    ACL_FORMAT_FRACTAL_Z: Blocks("cHWn", 3, True, frozenset({ACL_FORMAT_NCHW, ACL_FORMAT_HWCN})),
    ACL_FRACTAL_Z_3D: Blocks("DcHWn", 4, True, frozenset({ACL_FORMAT_NCDHW, DHWCN})),
}


def storage_shape(shape: Sequence[int], plain: int, private: int, columns: int) -> tuple[int, ...]:
    """The storage shape of a tensor of a shape, whose axes have the names of ``plain``, in blocks."""
    if private in MATRICES:
        *batch, rows, across = shape
        return (*batch, -(-across // columns), -(-rows // ROWS), ROWS, columns)
    blocks = CHANNELS[private]
    lengths = block_lengths(shape, plain, columns)
    outer = [lengths[axis] for axis in blocks.outer]
    first = int(np.prod(outer[: blocks.joined]))
    return (first, *outer[blocks.joined :], *((ROWS,) if blocks.filters else ()), columns)


def block_lengths(shape: Sequence[int], plain: int, columns: int) -> dict[str, int]:
    """The lengths of all axes by name; blocks of channels and of filters are counted."""
    lengths = dict(zip(_ORDERS[plain], shape, strict=True))
    return {**lengths, "c": -(-lengths["C"] // columns), "n": -(-lengths["N"] // ROWS)}


def into_blocks(values: Array, plain: int, private: int, columns: int) -> Array:
    """The elements in the order of the storage shape; what fills up blocks is zero."""
    if private in MATRICES:
        *batch, rows, across = values.shape
        full = np.zeros((*batch, -(-rows // ROWS) * ROWS, -(-across // columns) * columns), values.dtype)
        full[..., :rows, :across] = values
        return full.reshape(*batch, full.shape[-2], -1, columns).swapaxes(-3, -2)
    blocks, order = CHANNELS[private], _ORDERS[plain]
    lengths = block_lengths(values.shape, plain, columns)
    named = values.transpose([order.index(axis) for axis in ("N", "C", *order_of_others(order))])
    rest = named.shape[2:]
    filters = lengths["n"] * ROWS if blocks.filters else lengths["N"]
    full = np.zeros((filters, lengths["c"] * columns, *rest), values.dtype)
    full[: lengths["N"], : lengths["C"]] = named
    split = full.reshape(*((lengths["n"], ROWS) if blocks.filters else (filters, 1)), lengths["c"], columns, *rest)
    return split.transpose(axes_of(blocks, order))


def from_blocks(stored: Array, shape: Sequence[int], plain: int, private: int, columns: int) -> Array:
    """The way back; ``stored`` has any shape."""
    if private in MATRICES:
        *batch, rows, across = shape
        blocks_across, height = -(-across // columns), -(-rows // ROWS) * ROWS
        by_row = stored.reshape(*batch, blocks_across, height, columns).swapaxes(-3, -2)
        return by_row.reshape(*batch, height, blocks_across * columns)[..., :rows, :across]
    blocks, order = CHANNELS[private], _ORDERS[plain]
    lengths = block_lengths(shape, plain, columns)
    others = order_of_others(order)
    rest = [lengths[axis] for axis in others]
    filters = (lengths["n"], ROWS) if blocks.filters else (lengths["N"], 1)
    split = (*filters, lengths["c"], columns, *rest)
    axes = axes_of(blocks, order)
    full = stored.reshape([split[axis] for axis in axes]).transpose(np.argsort(axes))
    named = full.reshape(filters[0] * filters[1], lengths["c"] * columns, *rest)[: lengths["N"], : lengths["C"]]
    names = ("N", "C", *others)
    return named.transpose([names.index(axis) for axis in order])


def order_of_others(order: str) -> str:
    """The axes beside filters and channels."""
    return "".join(axis for axis in "DHW" if axis in order)


def axes_of(blocks: Blocks, order: str) -> list[int]:
    """Where the axes (N1, N0, C1, C0, and the others) go."""
    places = {"n": 0, "N": 0, "c": 2, **{axis: 4 + index for index, axis in enumerate(order_of_others(order))}}
    return [*(places[axis] for axis in blocks.outer), 1, 3]
