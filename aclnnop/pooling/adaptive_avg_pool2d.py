"""aclnnAdaptiveAvgPool2d: means of windows that share the last two axes out."""

from acl_emu.spec import ALL, IntArrayIn, Plan, Product, operator
from aclnnop.pooling.average import PlaneIn, PlaneOut, adaptive_examples, average
from aclnnop.pooling.windows import filled, output_sizes, share


@operator(products=ALL - {Product.A310B})
def aclnnAdaptiveAvgPool2d(self: PlaneIn, outputSize: IntArrayIn, out: PlaneOut) -> Plan:
    """Take the mean of each window; there are ``outputSize`` of them along each axis."""
    filled(self, out)
    return average(self, share(self, 2, output_sizes(outputSize, 2)), out)


aclnnAdaptiveAvgPool2d.example(lambda: adaptive_examples(aclnnAdaptiveAvgPool2d, 2))
