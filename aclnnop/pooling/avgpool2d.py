"""aclnnAvgPool2d: means of windows that slide along the last two axes."""

from typing import Annotated

from acl_emu.spec import ALL, ConstBool, ConstInt, IntArrayIn, IntKind, Plan, Product, operator
from aclnnop.matmul.cube import CubeMathType
from aclnnop.pooling.average import PlaneIn, PlaneOut, average, sliding_examples
from aclnnop.pooling.windows import slide

NAMES = ("kernelSize", "strides", "paddings")


@operator(products=ALL - {Product.A310B})
def aclnnAvgPool2d(
    self: PlaneIn,
    kernelSize: IntArrayIn,
    strides: IntArrayIn,
    paddings: IntArrayIn,
    ceilMode: ConstBool,
    countIncludePad: ConstBool,
    divisorOverride: ConstInt,
    cubeMathType: Annotated[int, IntKind("const int8_t", choices=CubeMathType)],
    out: PlaneOut,
) -> Plan:
    """Take the mean of each window."""
    axes = slide(self, 2, kernelSize, strides, paddings, ceil=ceilMode, names=NAMES)
    return average(self, axes, out, padded=countIncludePad, divisor=divisorOverride)


aclnnAvgPool2d.example(lambda: sliding_examples(aclnnAvgPool2d, 2))
