"""aclnnRoiAlign: means, or the largest, of samples in regions of images."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32
from acl_emu.spec import (
    ALL,
    Example,
    Float,
    In,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.objdetect.regions import check_scales, pooled

PRODUCTS = ALL - {Product.A310B, Product.A950}
TYPES = (FLOAT, FLOAT16)
CInt = Annotated[int, IntKind("int")]


@operator(products=PRODUCTS)
def aclnnRoiAlign(
    self: Annotated[Operand, In(*TYPES, rank=4)],
    rois: Annotated[Operand, In(*TYPES, rank=2)],
    batchIndices: Annotated[Operand, In(INT32, rank=1)],
    mode: Annotated[str, StringKind(choices=("avg", "max"))],
    outputHeight: CInt,
    outputWidth: CInt,
    samplingRatio: CInt,
    spatialScale: Float,
    out: Annotated[Operand, Out(*TYPES, rank=4)],
) -> Plan:
    """Take the mean, or the largest, of samples in each cell of each region."""
    same_dtype(self, rois, out)
    shape_is(rois, (rois.shape[0], 4), "four coordinates for each region")
    shape_is(batchIndices, rois.shape[:1], "one for each region")
    require(all(self.shape[2:]), f"self has shape {list(self.shape)}, expected elements along its last 2 dimensions")
    shape_is(out, (rois.shape[0], self.shape[1], max(outputHeight, 0), max(outputWidth, 0)), "regions, channels, outputHeight, outputWidth")
    check_scales(spatialScale, samplingRatio)
    if 0 in out.shape:
        return nothing()
    settings = {"scale": spatialScale, "ratio": samplingRatio, "aligned": False, "largest": mode == "max"}
    names = (rois.name, batchIndices.name)
    return direct(pooled, reads=(self, rois, batchIndices), writes=(out,), scratch={}, names=names, **settings)


@aclnnRoiAlign.example
def examples() -> Iterator[Example]:
    """Regions within an image and beyond, with samples given and counted."""
    rois = np.array([[0, 0, 3, 4], [-2, -2, 9, 7.5], [1.5, 2.25, 1.75, 2.5]])
    for dtype, mode, ratio, scale in ((FLOAT, "avg", 0, 1.0), (FLOAT16, "max", 2, 0.5), (FLOAT, "max", 0, 1.0), (FLOAT16, "avg", 3, 2.0)):
        yield {
            "self": numbers((2, 3, 5, 6), dtype, 1),
            "rois": rois.astype(dtype.numpy),
            "batchIndices": np.array([0, 1, 1], np.int32),
            "mode": mode,
            "outputHeight": 2,
            "outputWidth": 3,
            "samplingRatio": ratio,
            "spatialScale": scale,
            "out": numbers((3, 3, 2, 3), dtype, 2),
        }
