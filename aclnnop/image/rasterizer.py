"""aclnnRasterizer: for each pixel of a screen the nearest triangle, and where in it the pixel lies."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT32
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    numbers,
    operator,
    require,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.swiglu_rows import RANKS_IN_TILING
from aclnnop.index.places import within

LONGEST = 4096


@operator(products=frozenset({Product.A3, Product.A2}), checks=RANKS_IN_TILING)
def aclnnRasterizer(
    v: Annotated[Operand, In(FLOAT, rank=2)],
    f: Annotated[Operand, In(INT32, rank=2)],
    dOptional: Annotated[Operand | None, In(FLOAT, optional=True)],
    width: Int,
    height: Int,
    occlusionTruncation: Double,
    useDepthPrior: Int,
    findicesOut: Annotated[Operand, Out(INT32, rank=2, const=True)],
    barycentricOut: Annotated[Operand, Out(FLOAT, rank=3, const=True)],
) -> Plan:
    """Find the nearest of the triangles ``f``, whose corners are numbers of points ``v``, and the weights of its corners."""
    with in_tiling():
        for operand, columns in ((v, 4), (f, 3)):
            shape_is(operand, (operand.shape[0], columns), "points (x, y, z, w) and triangles")
            require(operand.shape[0] > 0, f"{operand.name} has shape {list(operand.shape)}, expected at least one row")
        for name, value in (("width", width), ("height", height)):
            require(1 <= value <= LONGEST, f"{name} is {value}, expected a value from 1 to {LONGEST}")
        require(useDepthPrior == 0, f"useDepthPrior is {useDepthPrior}, expected 0")
        shape_is(findicesOut, (height, width), "height and width")
        shape_is(barycentricOut, (height, width, 3), "height and width, and three corners")
    return direct(drawn, reads=(v, f), writes=(findicesOut, barycentricOut), scratch={}, name=f.name)


def on_screen(points: Array, high: int, wide: int) -> Array:
    """Places in pixels, and depths."""
    x, y, z, w = points.T
    half = np.float32(0.5)
    places = [(x / w * half + half) * (wide - 1) + half, (half + half * y / w) * (high - 1) + half, z / w * np.float32(0.49999) + half]
    return np.stack(places, 1).astype(np.float32)


def signed_area(a: Array, b: Array, c: Array) -> Array:
    """Twice the area of triangles, negative for those that turn the other way."""
    found: Array = (c[..., 0] - a[..., 0]) * (b[..., 1] - a[..., 1]) - (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1])
    return found


def weights_of(corners: Array, pixels: Array) -> Array:
    """The barycentric coordinates of pixels in one triangle; -1 where it has no area."""
    a, b, c = corners
    whole = signed_area(a, b, c)
    if whole == 0:
        return np.full((*pixels.shape[:-1], 3), -1, np.float32)
    second, third = signed_area(a, pixels, c) / whole, signed_area(a, b, pixels) / whole
    return np.stack([1 - second - third, second, third], -1)


def drawn(points: Array, faces: Array, indices: Array, weights: Array, *, name: str) -> None:
    """In float32. Triangles are counted from 1; a pixel without one has 0, and weights of 0."""
    corners = within(faces, points.shape[0], name)
    high, wide = indices.shape
    screen = on_screen(points, high, wide)
    depths = np.full((high, wide), np.inf, np.float32)
    nearest, found = np.zeros((high, wide), np.int32), np.zeros((high, wide, 3), np.float32)
    for number, places in enumerate(corners, 1):
        triangle = screen[places]
        if not np.isfinite(triangle).all():
            continue
        edges = np.floor(triangle[:, :2].min(0)), np.floor(triangle[:, :2].max(0)) + 1
        low, top = (np.clip(edge, 0, (wide, high)).astype(int) for edge in edges)
        rows, columns = np.mgrid[low[1] : top[1], low[0] : top[0]]
        if not rows.size:
            continue
        own = weights_of(triangle, np.stack([columns, rows], -1).astype(np.float32) + np.float32(0.5))
        depth = own @ triangle[:, 2]
        part = (slice(low[1], top[1]), slice(low[0], top[0]))
        closer = (own >= 0).all(-1) & (depth < depths[part])
        scaled = own / points[places, 3]
        depths[part] = np.where(closer, depth, depths[part])
        nearest[part] = np.where(closer, number, nearest[part])
        found[part] = np.where(closer[..., None], scaled / scaled.sum(-1, keepdims=True), found[part])
    indices[...], weights[...] = nearest, found


@aclnnRasterizer.example
def examples() -> Iterator[Example]:
    """Two triangles, one before the other."""
    points = np.array(
        [[-0.8, -0.8, 0.2, 1], [0.9, -0.7, 0.3, 1.2], [0, 0.9, 0.1, 0.9], [-0.5, 0.4, -0.2, 1], [0.6, 0.5, 0.0, 1]], np.float32
    )
    yield {
        "v": points.astype(np.float32),
        "f": np.array([[0, 1, 2], [3, 4, 1]], np.int32),
        "dOptional": None,
        "width": 9,
        "height": 7,
        "occlusionTruncation": 0.0,
        "useDepthPrior": 0,
        "findicesOut": np.zeros((7, 9), np.int32),
        "barycentricOut": numbers((7, 9, 3), FLOAT, 1),
    }
