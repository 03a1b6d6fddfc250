"""aclnnMaxUnpool3dBackward: the gradient of aclnnMaxUnpool3d."""

from typing import Annotated

from acl_emu.core.dtypes import INT64
from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, Product, operator, require, same_dtype
from aclnnop.index.unpooling import TYPES, has_channels, holds, unpool_examples, unpool_gradient, windows_of_a_volume
from aclnnop.pooling.average import VOLUME
from aclnnop.pooling.maximum import NEWER
from aclnnop.pooling.windows import output_sizes


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
    require(out.contiguous, f"out has strides {list(out.view.strides)}, expected a contiguous tensor")
    same_dtype(self, out)
    windows_of_a_volume(stride, padding)
    has_channels(self)
    holds(self, output_sizes(outputSize, 3))
    return unpool_gradient(gradOutput, self, indices, outputSize, out, 3)


aclnnMaxUnpool3dBackward.example(lambda: unpool_examples(aclnnMaxUnpool3dBackward, 3))
