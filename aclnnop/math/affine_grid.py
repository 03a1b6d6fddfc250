"""aclnnAffineGrid: where the points of a transformed picture lie in the original one."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    FloatOut,
    In,
    IntArrayIn,
    Operand,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnAffineGrid(
    theta: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=3)], size: IntArrayIn, alignCorners: Bool, out: FloatOut
) -> Plan:
    """Transform a grid over [-1, 1] in each dimension: of the corners with ``alignCorners``, else of the centres of pixels."""
    same_dtype(theta, out)
    lengths = tuple(size.values)
    require(len(lengths) in (4, 5), f"size has {len(lengths)} members, expected 4 or 5")
    batch, _, *picture = lengths
    axes = len(picture)
    shape_is(theta, (batch, axes, axes + 1), "N of size, and a matrix for its dimensions")
    shape_is(out, (batch, *picture, axes), "a point for each pixel")
    if out.size == 0:
        return nothing()
    return direct(transformed, reads=(theta,), writes=(out,), scratch={}, corners=alignCorners)


def transformed(theta: Array, out: Array, *, corners: bool) -> None:
    """``theta`` times the point with a 1 behind it; the last dimension of a picture is a point's first coordinate."""
    *_, axes = out.shape
    places = np.meshgrid(*(coordinates(length, corners) for length in out.shape[1:-1]), indexing="ij")
    points = np.stack((*places[::-1], np.ones(out.shape[1:-1])), axis=-1).reshape(-1, axes + 1)
    found = points @ np.swapaxes(theta.astype(np.float64), -1, -2)
    out[...] = dtypes.round_to(found.reshape(out.shape), dtypes.from_numpy(out.dtype))


def coordinates(length: int, corners: bool) -> Array:
    """Of the pixels along an axis; a single one lies in the middle."""
    ends = 1.0 if corners else (length - 1) / length
    return np.linspace(-ends, ends, length) if length > 1 else np.zeros(length)


@aclnnAffineGrid.example
def examples() -> Iterator[Example]:
    """Two and three dimensions, a single pixel, both ways."""
    for dtype, size, corners in (
        (FLOAT, [2, 5, 3, 4], False),
        (BF16, [2, 1, 1, 4], True),
        (FLOAT16, [2, 1, 2, 3, 4], True),
        (FLOAT, [1, 1, 2, 3, 4], False),
    ):
        batch, _, *picture = size
        axes = len(picture)
        theta = numbers((batch, axes, axes + 1), dtype, 1)
        yield {"theta": theta, "size": size, "alignCorners": corners, "out": numbers((batch, *picture, axes), dtype, 2)}
