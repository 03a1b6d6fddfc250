"""aclnnAdaptiveAvgPool3d: means of windows that share the last three axes out."""

from acl_emu.core import soc
from acl_emu.spec import ALL, IntArrayIn, Plan, Product, operator
from aclnnop.pooling.average import VolumeIn, VolumeOut, adaptive_examples, average
from aclnnop.pooling.windows import filled, output_sizes, share


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnAdaptiveAvgPool3d(self: VolumeIn, outputSize: IntArrayIn, out: VolumeOut) -> Plan:
    """Take the mean of each window; there are ``outputSize`` of them along each axis."""
    filled(self, out, first=soc.current().product is not Product.A310P)
    return average(self, share(self, 3, output_sizes(outputSize, 3)), out)


aclnnAdaptiveAvgPool3d.example(lambda: adaptive_examples(aclnnAdaptiveAvgPool3d, 3))
