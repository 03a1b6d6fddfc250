"""aclnnMaxUnpool3dBackward: the gradient of aclnnMaxUnpool3d."""

from typing import Annotated

from acl_emu.core.dtypes import INT64
from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, Product, operator
from aclnnop.index.unpooling import TYPES, unpool_examples, unpool_gradient
from aclnnop.pooling.average import VOLUME
from aclnnop.pooling.maximum import NEWER
from aclnnop.pooling.windows import per_axis


@operator(products=NEWER | {Product.A910})
def aclnnMaxUnpool3dBackward(
    gradOutput: Annotated[Operand, In(*TYPES, rank=VOLUME)],
    self: Annotated[Operand, In(*TYPES, rank=VOLUME)],
    indices: Annotated[Operand, In(INT64, rank=VOLUME)],
    outputSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    out: Annotated[Operand, Out(*TYPES, rank=VOLUME)],
) -> Plan:
    """Take each gradient from where ``indices`` says."""
    per_axis(stride, "stride", 3, low=1)
    per_axis(padding, "padding", 3, low=0)
    return unpool_gradient(gradOutput, self, indices, outputSize, out, 3)


aclnnMaxUnpool3dBackward.example(lambda: unpool_examples(aclnnMaxUnpool3dBackward, 3))
