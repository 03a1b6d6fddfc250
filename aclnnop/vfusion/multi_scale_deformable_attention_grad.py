"""aclnnMultiScaleDeformableAttentionGrad: the gradients of aclnnMultiScaleDeformableAttnFunction."""

from typing import Annotated

from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import In, Operand, Out, Plan, direct, nothing, operator, same_dtype, same_shape
from aclnnop.image.upsampling import FLOATS, NEWER
from aclnnop.vfusion.deformable import COMMON, attention_examples, check_attention, check_limits, gradients

Indices = (INT32, INT64)


@operator(products=NEWER)
def aclnnMultiScaleDeformableAttentionGrad(
    value: Annotated[Operand, In(*FLOATS, rank=4)],
    spatialShape: Annotated[Operand, In(*Indices, rank=2)],
    levelStartIndex: Annotated[Operand, In(*Indices, rank=1)],
    location: Annotated[Operand, In(*FLOATS, rank=6)],
    attnWeight: Annotated[Operand, In(*FLOATS, rank=5)],
    gradOutput: Annotated[Operand, In(*FLOATS, rank=3)],
    gradValue: Annotated[Operand, Out(*FLOATS, rank=4)],
    gradLocation: Annotated[Operand, Out(*FLOATS, rank=6)],
    gradAttnWeight: Annotated[Operand, Out(*FLOATS, rank=5)],
) -> Plan:
    """Give gradients back to values, places and weights."""
    check_attention(value, spatialShape, levelStartIndex, location, attnWeight, gradOutput)
    for first, second in ((value, gradValue), (location, gradLocation), (attnWeight, gradAttnWeight)):
        same_dtype(first, second)
        same_shape(first, second)
    check_limits(value, location, COMMON)
    if 0 in gradValue.shape:
        return nothing()
    reads = (value, spatialShape, levelStartIndex, location, attnWeight, gradOutput)
    names = (spatialShape.name, levelStartIndex.name)
    return direct(gradients, reads=reads, writes=(gradValue, gradLocation, gradAttnWeight), scratch={}, names=names)


aclnnMultiScaleDeformableAttentionGrad.example(lambda: attention_examples(aclnnMultiScaleDeformableAttentionGrad))
