"""Regions of interest, aligned: samples of an image at equal distances within the cells of a region, their means or the largest.

Positions are float32. Along each axis a sample is made of two elements; one that lies more than an element outside the image counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, require
from aclnnop.image.resampling import Taps, applied, grouped

MOST_SAMPLES = 1 << 20
"""Along one axis of a cell."""
Names = tuple[str, str]
"""What regions and the numbers of their images are called."""


class Lines(NamedTuple):
    """The samples along one axis of a region."""

    taps: Taps
    per_cell: int
    total: int
    length: int


def lines(start: Any, end: Any, cells: int, length: int, ratio: int, aligned: bool) -> Lines:
    """The samples between two places, for so many cells; a ``ratio`` of 0: about one for each element."""
    extent = end - start if aligned else max(end - start, np.float32(1))
    size = extent / np.float32(cells)
    per_cell = ratio if ratio > 0 else max(math.ceil(size), 0)
    if per_cell > MOST_SAMPLES:
        raise DeviceFault(f"a region is {extent} elements long, which takes more than {MOST_SAMPLES} samples for each cell")
    inner = (np.arange(per_cell).astype(np.float32) + np.float32(0.5)) * size / np.float32(max(per_cell, 1))
    position = (start + np.arange(cells).astype(np.float32)[:, None] * size + inner).reshape(-1)
    near = np.flatnonzero((position >= -1) & (position <= length))
    place = np.clip(position[near], 0, length - 1)
    before = np.floor(place).astype(np.int64)
    behind = (place - before).astype(np.float64)
    rows, places = np.concatenate([near, near]), np.concatenate([before, np.minimum(before + 1, length - 1)])
    return Lines(Taps(rows, places, np.concatenate([1 - behind, behind])), per_cell, cells * per_cell, length)


def region(box: Array, scale: float, cells: Sequence[int], lengths: Sequence[int], ratio: int, aligned: bool, name: str) -> list[Lines]:
    """The samples of one region (x1, y1, x2, y2) along both axes of an image."""
    if not np.isfinite(box).all():
        raise DeviceFault(f"{name} has a region {box.tolist()}, expected finite numbers")
    x1, y1, x2, y2 = box.astype(np.float32) * np.float32(scale) - np.float32(0.5 if aligned else 0)
    return [
        lines(low, high, cell, length, ratio, aligned)
        for low, high, cell, length in ((y1, y2, cells[0], lengths[0]), (x1, x2, cells[1], lengths[1]))
    ]


def samples_of(image: Array, along: Sequence[Lines]) -> Array:
    """The samples (channel, cell, sample, cell, sample) of one image, in float64."""
    found = applied(image, [(grouped(one.taps), one.total) for one in along], 1)
    high, wide = (one.per_cell for one in along)
    return found.reshape(image.shape[0], -1, high, found.shape[2] // wide, wide)


def image_number(value: Any, count: int, name: str) -> int:
    """Which image a region belongs to; one that is not there is a fault."""
    if not 0 <= value < count:
        raise DeviceFault(f"{name} is {value}, expected the number of one of {count} images")
    return int(value)


def check_scales(scale: float, ratio: int) -> None:
    """161002 for a scale or a number of samples that makes no sense."""
    require(scale > 0, f"spatialScale is {scale}, expected a value above 0")
    require(ratio >= 0, f"samplingRatio is {ratio}, expected at least 0")


# What kernels do


def pooled(
    images: Array,
    boxes: Array,
    numbers: Array,
    out: Array,
    *,
    scale: float,
    ratio: int,
    aligned: bool,
    largest: bool,
    names: tuple[str, str],
) -> None:
    """One region after the other."""
    results = np.zeros(out.shape)
    for place, (box, number) in enumerate(zip(boxes, numbers, strict=True)):
        image = images[image_number(number, images.shape[0], f"{names[1]}[{place}]")]
        along = region(box, scale, out.shape[2:], images.shape[2:], ratio, aligned, names[0])
        if all(one.total for one in along):
            found = samples_of(image, along)
            results[place] = found.max(axis=(2, 4)) if largest else found.mean(axis=(2, 4))
    out[...] = results


def pooled_with_numbers(images: Array, boxes: Array, out: Array, **settings: Any) -> None:
    """Regions whose first element is the number of an image."""
    pooled(images, boxes[:, 1:], np.floor(boxes[:, 0].astype(np.float64)), out, largest=False, **settings)


def pooled_gradients(grad: Array, boxes: Array, out: Array, *, scale: float, ratio: int, aligned: bool, names: Names) -> None:
    """What elements get of the gradients of means."""
    total = np.zeros(out.shape)
    for place, box in enumerate(boxes):
        number = image_number(np.floor(np.float64(box[0])), out.shape[0], f"{names[1]}[{place}]")
        along = region(box[1:], scale, grad.shape[2:], out.shape[2:], ratio, aligned, names[0])
        high, wide = along
        if not high.total or not wide.total:
            continue
        shares = (grad[place].astype(np.float64) / (high.per_cell * wide.per_cell)).repeat(high.per_cell, 1).repeat(wide.per_cell, 2)
        back = [(grouped(Taps(one.taps.places, one.taps.rows, one.taps.weights)), one.length) for one in along]
        total[number] += applied(shares, back, 1)
    out[...] = total
