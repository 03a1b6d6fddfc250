"""aclnnMaxPool3dWithArgmaxBackward: the gradient of aclnnMaxPool3dWithArgmax."""

from acl_emu.spec import Bool, IntArrayIn, Plan, operator
from aclnnop.pooling.maximum import NEWER, VolumeIn, VolumeOut, VolumePlaces, maximum_gradient, sliding_examples, sliding_windows


@operator(products=NEWER)
def aclnnMaxPool3dWithArgmaxBackward(
    gradOutput: VolumeIn,
    self: VolumeIn,
    indices: VolumePlaces,
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    ceilMode: Bool,
    gradInput: VolumeOut,
) -> Plan:
    """Add the gradients up where the largest elements were."""
    axes = sliding_windows(self, 3, kernelSize, stride, padding, dilation, ceil=ceilMode)
    return maximum_gradient(gradOutput, self, indices, axes, gradInput)


aclnnMaxPool3dWithArgmaxBackward.example(lambda: sliding_examples(aclnnMaxPool3dWithArgmaxBackward, 3))
