"""aclnnAvgPool2dBackward: the gradient of aclnnAvgPool2d."""

from typing import Annotated

from acl_emu.core import soc
from acl_emu.spec import ALL, Bool, In, Int, IntArrayIn, Operand, Plan, Product, operator, require
from aclnnop.matmul.cube import CubeMath
from aclnnop.pooling.average import FLOATS, PLANE, PlaneIn, PlaneOut, average_gradient, sliding_examples
from aclnnop.pooling.windows import slide

NARROW = (Product.A910, Product.A310P)
"""Products that limit the divisor."""
MOST_DIVISOR = 255


@operator(products=ALL - {Product.A310B})
def aclnnAvgPool2dBackward(
    gradOutput: Annotated[Operand, In(*FLOATS, rank=PLANE)],
    self: PlaneIn,
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    ceilMode: Bool,
    countIncludePad: Bool,
    divisorOverride: Int,
    cubeMathType: CubeMath,
    gradInput: PlaneOut,
) -> Plan:
    """Give each element its share of the gradients of the windows that it is in."""
    require(
        soc.current().product not in NARROW or abs(divisorOverride) <= MOST_DIVISOR,
        f"divisorOverride is {divisorOverride}, expected a value from {-MOST_DIVISOR} to {MOST_DIVISOR} on {soc.current().name}",
    )
    axes = slide(self, 2, kernelSize, stride, padding, ceil=ceilMode)
    return average_gradient(gradOutput, self, axes, gradInput, padded=countIncludePad, divisor=divisorOverride)


aclnnAvgPool2dBackward.example(lambda: sliding_examples(aclnnAvgPool2dBackward, 2))
