"""aclnnMultiScaleDeformableAttnFunction: weighted samples of images of several sizes, at places that each query has of its own."""

from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import In, Operand, Out, Plan, Product, direct, nothing, operator
from aclnnop.image.upsampling import FLOATS, INFERENCE
from aclnnop.vfusion.deformable import COMMON, Limits, attended, attention_examples, check_attention, check_limits

Indices = (INT32, INT64)
FORWARD: Limits = {**COMMON, "queries": ("from 32 to 499999", lambda count: 32 <= count < 500000)}
LIMITS: dict[Product, Limits] = {
    Product.A310P: {
        **FORWARD,
        "channels": ("a multiple of 32, at most 256", lambda count: count % 32 == 0 and count <= 256),
        "heads": ("2, 4 or 8", lambda count: count in (2, 4, 8)),
        "points": ("4 or 8", lambda count: count in (4, 8)),
    }
}


@operator(products=INFERENCE)
def aclnnMultiScaleDeformableAttnFunction(
    value: Annotated[Operand, In(*FLOATS, rank=4)],
    spatialShape: Annotated[Operand, In(*Indices, rank=2)],
    levelStartIndex: Annotated[Operand, In(*Indices, rank=1)],
    location: Annotated[Operand, In(*FLOATS, rank=6)],
    attnWeight: Annotated[Operand, In(*FLOATS, rank=5)],
    output: Annotated[Operand, Out(*FLOATS, rank=3)],
) -> Plan:
    """Add up samples of ``value`` at the places of each query, by their weights."""
    check_attention(value, spatialShape, levelStartIndex, location, attnWeight, output)
    check_limits(value, location, LIMITS.get(soc.current().product, FORWARD))
    if 0 in output.shape:
        return nothing()
    names = (spatialShape.name, levelStartIndex.name)
    reads = (value, spatialShape, levelStartIndex, location, attnWeight)
    return direct(attended, reads=reads, writes=(output,), scratch={}, names=names)


aclnnMultiScaleDeformableAttnFunction.example(lambda: attention_examples(aclnnMultiScaleDeformableAttnFunction))
