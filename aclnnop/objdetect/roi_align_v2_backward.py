"""aclnnRoiAlignV2Backward: the gradient of aclnnRoiAlignV2."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import (
    Bool,
    Example,
    Float,
    In,
    Int,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    require,
    shape_is,
)
from aclnnop.image.upsampling import TRAINING
from aclnnop.objdetect.regions import check_scales, pooled_gradients
from aclnnop.objdetect.roi_align_v2 import boxes_of


@operator(products=TRAINING)
def aclnnRoiAlignV2Backward(
    gradOutput: Annotated[Operand, In(FLOAT, rank=4)],
    boxes: Annotated[Operand, In(FLOAT, rank=2)],
    inputShape: IntArrayIn,
    pooledHeight: Int,
    pooledWidth: Int,
    spatialScale: Float,
    samplingRatio: Int,
    aligned: Bool,
    gradInput: Annotated[Operand, Out(FLOAT, rank=4)],
) -> Plan:
    """Give each element its share of the gradients of the samples that it is a part of."""
    require(len(inputShape) == 4, f"inputShape has {len(inputShape)} values, expected 4")
    shape_is(boxes, (boxes.shape[0], 5), "the number of an image and four coordinates")
    cells = (boxes.shape[0], inputShape.values[1], pooledHeight, pooledWidth)
    shape_is(gradOutput, cells, "boxes, channels, pooledHeight, pooledWidth")
    shape_is(gradInput, tuple(inputShape.values), "inputShape")
    check_scales(spatialScale, samplingRatio)
    if 0 in gradInput.shape:
        return nothing()
    settings = {"scale": spatialScale, "ratio": samplingRatio, "aligned": aligned, "names": (boxes.name, boxes.name)}
    return direct(pooled_gradients, reads=(gradOutput, boxes), writes=(gradInput,), scratch={}, **settings)


@aclnnRoiAlignV2Backward.example
def examples() -> Iterator[Example]:
    """Boxes within an image and beyond, with samples given and counted."""
    for ratio, scale, aligned in ((0, 1.0, False), (2, 0.5, True)):
        yield {
            "gradOutput": numbers((3, 3, 2, 3), FLOAT, 1),
            "boxes": boxes_of(FLOAT.numpy),
            "inputShape": (2, 3, 5, 6),
            "pooledHeight": 2,
            "pooledWidth": 3,
            "spatialScale": scale,
            "samplingRatio": ratio,
            "aligned": aligned,
            "gradInput": numbers((2, 3, 5, 6), FLOAT, 2),
        }
