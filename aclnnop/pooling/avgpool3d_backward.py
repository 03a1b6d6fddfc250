"""aclnnAvgPool3dBackward: the gradient of aclnnAvgPool3d."""

from acl_emu.spec import Bool, Int, IntArrayIn, Plan, operator
from aclnnop.pooling.average import VolumeIn, VolumeOut, average_gradient, sliding_examples
from aclnnop.pooling.maximum import NEWER
from aclnnop.pooling.windows import slide


@operator(products=NEWER)
def aclnnAvgPool3dBackward(
    gradOutput: VolumeIn,
    self: VolumeIn,
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    ceilMode: Bool,
    countIncludePad: Bool,
    divisorOverride: Int,
    output: VolumeOut,
) -> Plan:
    """Give each element its share of the gradients of the windows that it is in."""
    axes = slide(self, 3, kernelSize, stride, padding, ceil=ceilMode)
    return average_gradient(gradOutput, self, axes, output, padded=countIncludePad, divisor=divisorOverride)


aclnnAvgPool3dBackward.example(lambda: sliding_examples(aclnnAvgPool3dBackward, 3))
