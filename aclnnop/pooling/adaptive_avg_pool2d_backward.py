"""aclnnAdaptiveAvgPool2dBackward: the gradient of aclnnAdaptiveAvgPool2d."""

from acl_emu.spec import ALL, Plan, Product, operator
from aclnnop.pooling.average import PlaneIn, PlaneOut, adaptive_examples, average_gradient
from aclnnop.pooling.windows import share, spatial


@operator(products=ALL - {Product.A310B})
def aclnnAdaptiveAvgPool2dBackward(gradOutput: PlaneIn, self: PlaneIn, out: PlaneOut) -> Plan:
    """Give each element its share of the gradients of the windows that it is in."""
    return average_gradient(gradOutput, self, share(self, 2, spatial(gradOutput, 2)), out)


aclnnAdaptiveAvgPool2dBackward.example(lambda: adaptive_examples(aclnnAdaptiveAvgPool2dBackward, 2))
