"""aclnnMaxUnpool2d: the largest elements back at their places in planes of zeros."""

from typing import Annotated

from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, operator
from aclnnop.index.unpooling import PLACES, TYPES, unpool, unpool_examples
from aclnnop.pooling.average import PLANE
from aclnnop.pooling.maximum import NEWER


@operator(products=NEWER)
def aclnnMaxUnpool2d(
    self: Annotated[Operand, In(*TYPES, rank=PLANE)],
    indices: Annotated[Operand, In(*PLACES, rank=PLANE)],
    outputSize: IntArrayIn,
    out: Annotated[Operand, Out(*TYPES, rank=PLANE)],
) -> Plan:
    """Put each element where ``indices`` says; zeros elsewhere."""
    return unpool(self, indices, outputSize, out, 2)


aclnnMaxUnpool2d.example(lambda: unpool_examples(aclnnMaxUnpool2d, 2))
