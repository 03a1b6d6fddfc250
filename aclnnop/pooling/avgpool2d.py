"""aclnnAvgPool2d: means of windows that slide along the last two axes."""

from acl_emu.spec import ALL, Bool, Int, IntArrayIn, Plan, Product, operator
from aclnnop.matmul.cube import CubeMath
from aclnnop.pooling.average import PlaneIn, PlaneOut, average, sliding_examples
from aclnnop.pooling.windows import slide

NAMES = ("kernelSize", "strides", "paddings")


@operator(products=ALL - {Product.A310B})
def aclnnAvgPool2d(
    self: PlaneIn,
    kernelSize: IntArrayIn,
    strides: IntArrayIn,
    paddings: IntArrayIn,
    ceilMode: Bool,
    countIncludePad: Bool,
    divisorOverride: Int,
    cubeMathType: CubeMath,
    out: PlaneOut,
) -> Plan:
    """Take the mean of each window."""
    axes = slide(self, 2, kernelSize, strides, paddings, ceil=ceilMode, names=NAMES)
    return average(self, axes, out, padded=countIncludePad, divisor=divisorOverride)


aclnnAvgPool2d.example(lambda: sliding_examples(aclnnAvgPool2d, 2))
