"""aclnnRoiAlignV2: means of samples in regions of images."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import (
    Bool,
    Example,
    Float,
    In,
    Int,
    Operand,
    Out,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.objdetect.regions import check_scales, pooled_with_numbers
from aclnnop.objdetect.roi_align import PRODUCTS, TYPES


@operator(products=PRODUCTS)
def aclnnRoiAlignV2(
    self: Annotated[Operand, In(*TYPES, rank=4)],
    boxes: Annotated[Operand, In(*TYPES, rank=2)],
    pooledHeight: Int,
    pooledWidth: Int,
    spatialScale: Float,
    samplingRatio: Int,
    aligned: Bool,
    out: Annotated[Operand, Out(*TYPES, rank=4)],
) -> Plan:
    """Take the mean of samples in each cell of each region; ``aligned`` shifts regions by half an element."""
    same_dtype(self, boxes, out)
    shape_is(boxes, (boxes.shape[0], 5), "the number of an image and four coordinates")
    filled = self.shape[0] > 0 and all(self.shape[2:])
    require(filled, f"self has shape {list(self.shape)}, expected no empty dimension but that of the channels")
    shape_is(out, (boxes.shape[0], self.shape[1], max(pooledHeight, 0), max(pooledWidth, 0)), "boxes, channels, pooledHeight, pooledWidth")
    check_scales(spatialScale, samplingRatio)
    if 0 in out.shape:
        return nothing()
    settings = {"scale": spatialScale, "ratio": samplingRatio, "aligned": aligned, "names": (boxes.name, boxes.name)}
    return direct(pooled_with_numbers, reads=(self, boxes), writes=(out,), scratch={}, **settings)


def boxes_of(dtype: np.dtype[np.generic]) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    """Boxes within an image of 5 by 6 elements, and beyond."""
    return np.array([[0, 0, 0, 3, 4], [1, -2, -2, 9, 7.5], [1, 1.5, 2.25, 1.75, 2.5]]).astype(dtype)


@aclnnRoiAlignV2.example
def examples() -> Iterator[Example]:
    """Boxes within an image and beyond, with samples given and counted."""
    for dtype, ratio, scale, aligned in ((FLOAT, 0, 1.0, False), (FLOAT16, 2, 0.5, True), (FLOAT, 0, 1.0, True)):
        yield {
            "self": numbers((2, 3, 5, 6), dtype, 1),
            "boxes": boxes_of(dtype.numpy),
            "pooledHeight": 2,
            "pooledWidth": 3,
            "spatialScale": scale,
            "samplingRatio": ratio,
            "aligned": aligned,
            "out": numbers((3, 3, 2, 3), dtype, 2),
        }
