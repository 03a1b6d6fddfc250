"""aclnnMaxUnpool2dBackward: the gradient of aclnnMaxUnpool2d."""

from typing import Annotated

from acl_emu.core.dtypes import BOOL, DOUBLE
from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, Product, operator
from aclnnop.index.unpooling import PLACES, TYPES, unpool_examples, unpool_gradient
from aclnnop.pooling.average import PLANE
from aclnnop.pooling.maximum import NEWER

VALUES = (*(dtype for dtype in TYPES if dtype is not DOUBLE), BOOL)


@operator(products=NEWER | {Product.A910})
def aclnnMaxUnpool2dBackward(
    gradOutput: Annotated[Operand, In(*VALUES, rank=PLANE)],
    self: Annotated[Operand, In(*VALUES, rank=PLANE)],
    indices: Annotated[Operand, In(*PLACES, rank=PLANE)],
    outputSize: IntArrayIn,
    out: Annotated[Operand, Out(*VALUES, rank=PLANE)],
) -> Plan:
    """Take each gradient from where ``indices`` says."""
    return unpool_gradient(gradOutput, self, indices, outputSize, out, 2)


aclnnMaxUnpool2dBackward.example(lambda: unpool_examples(aclnnMaxUnpool2dBackward, 2))
