"""aclnnAvgPool3d: means of windows that slide along the last three axes."""

from acl_emu.spec import ALL, Bool, Int, IntArrayIn, Plan, Product, operator
from aclnnop.pooling.average import VolumeIn, VolumeOut, average, sliding_examples
from aclnnop.pooling.windows import slide


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnAvgPool3d(
    self: VolumeIn,
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    ceilMode: Bool,
    countIncludePad: Bool,
    divisorOverride: Int,
    out: VolumeOut,
) -> Plan:
    """Take the mean of each window."""
    axes = slide(self, 3, kernelSize, stride, padding, ceil=ceilMode)
    return average(self, axes, out, padded=countIncludePad, divisor=divisorOverride)


aclnnAvgPool3d.example(lambda: sliding_examples(aclnnAvgPool3d, 3))
