"""aclnnAdaptiveMaxPool2d: the largest elements of windows that share the last two axes out, and where they were."""

from typing import Annotated

from acl_emu.core.dtypes import DOUBLE, INT64
from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, Product, operator
from aclnnop.pooling.average import FLOATS, PLANE
from aclnnop.pooling.maximum import NEWER, adaptive_examples, maximum
from aclnnop.pooling.windows import output_sizes, share


@operator(products=NEWER | {Product.A910})
def aclnnAdaptiveMaxPool2d(
    self: Annotated[Operand, In(*FLOATS, DOUBLE, rank=PLANE)],
    outputSize: IntArrayIn,
    outputOut: Annotated[Operand, Out(*FLOATS, DOUBLE, rank=PLANE)],
    indicesOut: Annotated[Operand, Out(INT64, rank=PLANE)],
) -> Plan:
    """Take the largest element of each window and its place in its plane."""
    return maximum(self, share(self, 2, output_sizes(outputSize, 2)), outputOut, indicesOut)


aclnnAdaptiveMaxPool2d.example(lambda: adaptive_examples(aclnnAdaptiveMaxPool2d, 2))
