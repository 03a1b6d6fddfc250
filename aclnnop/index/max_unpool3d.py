"""aclnnMaxUnpool3d: the largest elements back at their places in volumes of zeros."""

from typing import Annotated

from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, operator
from aclnnop.index.unpooling import PLACES, TYPES, unpool, unpool_examples
from aclnnop.pooling.average import VOLUME
from aclnnop.pooling.maximum import NEWER
from aclnnop.pooling.windows import per_axis


@operator(products=NEWER)
def aclnnMaxUnpool3d(
    self: Annotated[Operand, In(*TYPES, rank=VOLUME)],
    indices: Annotated[Operand, In(*PLACES, rank=VOLUME)],
    outputSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    outRef: Annotated[Operand, Out(*TYPES, rank=VOLUME)],
) -> Plan:
    """Put each element where ``indices`` says; zeros elsewhere. Strides and padding have been used when the indices were found."""
    per_axis(stride, "stride", 3, low=1)
    per_axis(padding, "padding", 3, low=0)
    return unpool(self, indices, outputSize, outRef, 3)


aclnnMaxUnpool3d.example(lambda: unpool_examples(aclnnMaxUnpool3d, 3))
