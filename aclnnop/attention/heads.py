"""How queries, keys and values lie in memory: the layouts, and tensors seen by batch, head, position and feature."""

from typing import NamedTuple

import numpy as np

from acl_emu.spec import Array, Operand, require

AXES = {"BSH": "BSND", "SBH": "SBND", "BSND": "BSND", "BNSD": "BNSD", "TND": "SND", "NTD": "NSD", "NBSD": "NBSD", "BNCSE": "BNCSE"}
"""The axes of each layout with H split into heads and features; T is a sequence of all batches, one behind the other, C and E are blocks of
features."""


class Lengths(NamedTuple):
    """The lengths of the axes of queries, keys or values; of T it is one batch."""

    batch: int
    heads: int
    positions: int
    features: int


def lengths(operand: Operand, layout: str, heads: int) -> Lengths:
    """The lengths of a tensor in a layout; ``heads`` splits H."""
    require(
        operand.rank == len(layout),
        f"{operand.name} has shape {list(operand.shape)}, expected {len(layout)} dimensions for layout {layout}",
    )
    shape = operand.shape
    if layout[-1] == "H":
        require(
            heads > 0 and shape[-1] % heads == 0,
            f"{operand.name} has shape {list(shape)}, expected a last length that is a multiple of its {heads} heads for layout {layout}",
        )
        shape = (*shape[:-1], heads, shape[-1] // heads)
    by_axis = dict(zip(AXES[layout], shape, strict=True))
    features = by_axis["D"] if "D" in by_axis else by_axis["C"] * by_axis["E"]
    return Lengths(by_axis.get("B", 1), by_axis["N"], by_axis["S"], features)


def shape_in(layout: str, sizes: Lengths) -> tuple[int, ...]:
    """The shape of a tensor with these lengths in a layout."""
    by_axis = {"B": sizes.batch, "N": sizes.heads, "S": sizes.positions, "D": sizes.features}
    shape = tuple(by_axis[axis] for axis in AXES[layout])
    return (*shape[:-2], shape[-2] * shape[-1]) if layout[-1] == "H" else shape


def by_head(array: Array, layout: str, heads: int) -> Array:
    """A view of the array with axes batch, head, position and feature; blocks of features stay two axes."""
    axes = AXES[layout]
    if array.ndim < len(axes):
        array = array.reshape(*array.shape[:-1], heads, array.shape[-1] // heads)
    if "B" not in axes:
        array, axes = array[np.newaxis], "B" + axes
    return array.transpose([axes.index(axis) for axis in ("BNSD" if "D" in axes else "BNSCE")])
