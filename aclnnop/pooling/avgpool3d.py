"""aclnnAvgPool3d: means of windows that slide along the last three axes."""

from acl_emu.spec import ALL, Bool, Int, IntArrayIn, Plan, Product, operator, require
from aclnnop.pooling.average import VolumeIn, VolumeOut, average, sliding_examples
from aclnnop.pooling.windows import per_axis, slide


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
    for size, axis in zip(per_axis(kernelSize, "kernelSize", 3, low=1), axes, strict=True):
        require(size <= axis.length, f"kernelSize is {list(kernelSize.values)}, expected no window longer than its axis: {axis.length}")
    return average(self, axes, out, padded=countIncludePad, divisor=divisorOverride)


aclnnAvgPool3d.example(lambda: sliding_examples(aclnnAvgPool3d, 3))
