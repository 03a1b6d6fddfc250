"""aclnnRoiPoolingWithArgMax: the largest elements of the cells of regions, and where they were."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32
from acl_emu.spec import (
    Array,
    Example,
    Float,
    In,
    Int,
    Operand,
    Out,
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
from aclnnop.objdetect.regions import image_number

TYPES = (FLOAT, FLOAT16)
NEWEST = frozenset({Product.A950})


@operator(products=NEWEST)
def aclnnRoiPoolingWithArgMax(
    x: Annotated[Operand, In(*TYPES, rank=4)],
    rois: Annotated[Operand, In(*TYPES, rank=2)],
    pooled_h: Int,
    pooled_w: Int,
    spatial_scale_h: Float,
    spatial_scale_w: Float,
    y: Annotated[Operand, Out(*TYPES, rank=4)],
    argmax: Annotated[Operand, Out(INT32, rank=4)],
) -> Plan:
    """Take the largest element of each cell of each region, and its place in its plane."""
    same_dtype(x, rois, y)
    shape_is(rois, (rois.shape[0], 5), "the number of an image and four coordinates")
    settings = {"pooled_h": pooled_h, "pooled_w": pooled_w, "spatial_scale_h": spatial_scale_h, "spatial_scale_w": spatial_scale_w}
    for name, value in settings.items():
        require(value > 0, f"{name} is {value}, expected a value above 0")
    for operand in (y, argmax):
        shape_is(operand, (rois.shape[0], x.shape[1], pooled_h, pooled_w), "regions, channels, pooled_h, pooled_w")
    if 0 in y.shape:
        return nothing()
    return direct(cells, reads=(x, rois), writes=(y, argmax), scratch={}, scales=(spatial_scale_h, spatial_scale_w), name=rois.name)


def bounds(low: np.float32, high: np.float32, scale: float, count: int, length: int) -> list[tuple[int, int]]:
    """Where the cells of a region begin and end along one axis; all are empty where it has no length."""
    start, end = low * np.float32(scale), (high + np.float32(1)) * np.float32(scale)
    step = (end - start) / np.float32(count)
    if not 0 < step < np.inf:
        return [(0, 0)] * count
    places = np.arange(count + 1).astype(np.float32) * step + start
    first, last = (np.clip(one, 0, length).astype(np.int64).tolist() for one in (np.floor(places[:-1]), np.ceil(places[1:])))
    return list(zip(first, last, strict=True))


def cells(images: Array, rois: Array, out: Array, places: Array, *, scales: tuple[float, float], name: str) -> None:
    """An empty cell has 0, at the place -1."""
    largest, found = np.zeros(out.shape, images.dtype), np.full(places.shape, -1, np.int32)
    high, wide = images.shape[2:]
    for number, roi in enumerate(rois.astype(np.float32)):
        image = images[image_number(np.floor(roi[0]), images.shape[0], f"{name}[{number}, 0]")]
        across = bounds(roi[1], roi[3], scales[1], out.shape[3], wide)
        for row, (top, bottom) in enumerate(bounds(roi[2], roi[4], scales[0], out.shape[2], high)):
            for column, (left, right) in enumerate(across):
                if top < bottom and left < right:
                    part = image[:, top:bottom, left:right].reshape(image.shape[0], -1)
                    best = part.argmax(axis=1)
                    down, aside = np.divmod(best, right - left)
                    largest[number, :, row, column] = np.take_along_axis(part, best[:, None], 1)[:, 0]
                    found[number, :, row, column] = (top + down) * wide + left + aside
    out[...], places[...] = largest, found


@aclnnRoiPoolingWithArgMax.example
def examples() -> Iterator[Example]:
    """Regions within an image and beyond, and one without an area."""
    rois = np.array([[0, 0, 0, 3, 4], [1, 2, 1, 9, 7.5], [1, 5, 2, 2, 4]])
    for dtype, scale in ((FLOAT, 1.0), (FLOAT16, 0.5)):
        yield {
            "x": numbers((2, 3, 5, 6), dtype, 1),
            "rois": rois.astype(dtype.numpy),
            "pooled_h": 2,
            "pooled_w": 3,
            "spatial_scale_h": scale,
            "spatial_scale_w": 1.0,
            "y": numbers((3, 3, 2, 3), dtype, 2),
            "argmax": np.zeros((3, 3, 2, 3), np.int32),
        }
