"""Boxes given by two corners (x0, y0, x1, y1), and how far they overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from acl_emu.spec import Array

Box = Sequence[Array]
"""The coordinates of many boxes."""


def columns(boxes: Array, axis: int = -1) -> Box:
    """The coordinates of boxes, in float64: float32 numbers multiply without rounding there."""
    return tuple(np.moveaxis(boxes, axis, 0).astype(np.float64))


def shared_area(first: Box, second: Box, eps: float = 0.0) -> Array:
    """The area that boxes have in common; lengths are ``eps`` longer than coordinates say."""
    wide = np.minimum(first[2], second[2]) - np.maximum(first[0], second[0]) + eps
    high = np.minimum(first[3], second[3]) - np.maximum(first[1], second[1]) + eps
    found: Array = np.maximum(wide, 0) * np.maximum(high, 0)
    return found


def area(box: Box, eps: float = 0.0) -> Array:
    """The area of boxes, as lengthened."""
    found: Array = (box[2] - box[0] + eps) * (box[3] - box[1] + eps)
    return found


def overlap(first: Box, second: Box, eps: float = 0.0, *, foreground: bool = False) -> Array:
    """The shared area, divided by that of both together, or by that of the second; 0 where that is 0."""
    shared = shared_area(first, second, eps)
    whole = area(second, eps) if foreground else area(first, eps) + area(second, eps) - shared
    found: Array = np.where(whole == 0, 0, shared / np.where(whole == 0, 1, whole))
    return found
