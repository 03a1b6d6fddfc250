"""Convolutions whose samples are moved: where they are, what lies there, and how that changes with the place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import Array, Operand, require, shape_is

MOST_KERNEL, MOST_TERMS = 2048, 65535


class Moves(NamedTuple):
    """How samples are taken."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    before: tuple[int, int]
    dilation: tuple[int, int]
    places: tuple[int, int]
    groups: int
    parts: int
    """Groups of channels that are moved alike."""
    masked: bool

    @property
    def taps(self) -> int:
        """Places in the kernel."""
        return self.kernel[0] * self.kernel[1]


def moves_of(
    x: Operand,
    weight: Operand,
    offset: Operand,
    arrays: dict[str, IntArray],
    groups: int,
    parts: int,
    masked: bool,
) -> Moves:
    """Check the attributes of a convolution whose samples are moved, and the shapes of what it reads."""
    for name, count in (("kernelSize", 2), ("stride", 4), ("padding", 4), ("dilation", 4)):
        values = arrays[name].values
        require(len(values) == count, f"{name} has {len(values)} values, expected {count}")
        least = 0 if name == "padding" else 1
        require(min(values) >= least, f"{name} is {list(values)}, expected values of at least {least}")
        outer = values[:2] if name in ("stride", "dilation") else (1, 1)
        require(outer == (1, 1), f"{name} is {list(values)}, expected 1 for the first two")
    high, wide = arrays["kernelSize"].values
    batch, channels, height, width = x.shape
    results = weight.shape[0]
    require(0 not in x.shape, f"{x.name} has shape {list(x.shape)}, expected no empty dimension")
    require(
        groups > 0 and channels % groups == 0 and results % groups == 0,
        f"groups is {groups}, expected a divisor of {channels} and {results}",
    )
    require(parts > 0 and channels % parts == 0, f"deformableGroups is {parts}, expected a divisor of {channels}")
    require(high * wide <= MOST_KERNEL, f"kernelSize is {[high, wide]}, expected at most {MOST_KERNEL} places")
    terms = high * wide * channels // groups
    require(terms <= MOST_TERMS, f"kernelSize is {[high, wide]}, expected at most {MOST_TERMS} terms, found {terms}")
    shape_is(weight, (results, channels // groups, high, wide), "output channels, input channels of a group, kernelSize")
    top, bottom, left, right = arrays["padding"].values
    stride, dilation = arrays["stride"].values[2:], arrays["dilation"].values[2:]
    places = (
        (height + top + bottom - (high - 1) * dilation[0] - 1) // stride[0] + 1,
        (width + left + right - (wide - 1) * dilation[1] - 1) // stride[1] + 1,
    )
    require(min(places) > 0, f"{x.name} has shape {list(x.shape)}, in which the kernel has no place")
    shape_is(offset, (batch, (3 if masked else 2) * parts * high * wide, *places), "coordinates of every sample")
    return Moves((high, wide), (stride[0], stride[1]), (top, left), (dilation[0], dilation[1]), places, groups, parts, masked)


class Corners(NamedTuple):
    """The four pixels around every sample of an image, by part, place in the kernel and place of the kernel."""

    pixels: Array
    """Their numbers; of those outside of the image that of the first one."""
    weights: Array
    """How much each counts: nothing outside of the image."""
    along: tuple[Array, Array]
    """How these change with the coordinates, vertical and horizontal."""
    mask: Array


def corners_of(offset: Array, moves: Moves, height: int, width: int) -> Corners:
    """Of one image: ``offset`` has horizontal moves of all samples first, then vertical ones, then factors."""
    high, wide = moves.kernel
    shape = (moves.parts, high, wide, *moves.places)
    split = offset.astype(np.float32).reshape(3 if moves.masked else 2, *shape)
    mask = split[2] if moves.masked else np.ones(shape, np.float32)
    rows = np.arange(moves.places[0]) * moves.stride[0] - moves.before[0]
    columns = np.arange(moves.places[1]) * moves.stride[1] - moves.before[1]
    down, across = (np.arange(moves.kernel[axis]) * moves.dilation[axis] for axis in (0, 1))
    y = split[1] + (down[:, None] + rows)[None, :, None, :, None].astype(np.float32)
    x = split[0] + (across[:, None] + columns)[None, None, :, None, :].astype(np.float32)
    with np.errstate(invalid="ignore"):
        low_y, low_x = np.floor(y), np.floor(x)
    pixels, weights, vertical, horizontal = [], [], [], []
    for dy in (0, 1):
        for dx in (0, 1):
            row, column = low_y + dy, low_x + dx
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            part_y, part_x = (1 - np.abs(y - row)), (1 - np.abs(x - column))
            pixels.append(np.where(inside, row * width + column, 0).astype(np.int64))
            weights.append(np.where(inside, part_y * part_x, 0))
            vertical.append(np.where(inside, (2 * dy - 1) * part_x, 0))
            horizontal.append(np.where(inside, (2 * dx - 1) * part_y, 0))
    return Corners(np.stack(pixels), np.stack(weights), (np.stack(vertical), np.stack(horizontal)), mask)


def sampled(image: Array, corners: Corners, weights: Array) -> Array:
    """The samples of all channels: (parts, channels of a part, high, wide, places), by the weights of their corners."""
    parts = corners.mask.shape[0]
    channels = image.reshape(parts, -1, image.shape[-2] * image.shape[-1])
    found = np.zeros((parts, channels.shape[1], *corners.mask.shape[1:]), np.float32)
    for part in range(parts):
        for pixels, factors in zip(corners.pixels[:, part], weights[:, part], strict=True):
            found[part] += channels[part][:, pixels] * factors
    return found
