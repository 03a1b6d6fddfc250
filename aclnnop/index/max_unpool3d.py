"""aclnnMaxUnpool3d: the largest elements back at their places in volumes of zeros."""

from typing import Annotated

from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, operator
from aclnnop.index.unpooling import PLACES, TYPES, has_channels, unpool, unpool_examples, windows_of_a_volume
from aclnnop.pooling.average import VOLUME
from aclnnop.pooling.maximum import NEWER


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
    windows_of_a_volume(stride, padding)
    has_channels(self)
    return unpool(self, indices, outputSize, outRef, 3)


aclnnMaxUnpool3d.example(lambda: unpool_examples(aclnnMaxUnpool3d, 3))
