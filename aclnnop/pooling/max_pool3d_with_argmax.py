"""aclnnMaxPool3dWithArgmax: the largest element of each window along the last three axes, and where it was."""

from acl_emu.spec import Bool, IntArrayIn, Plan, operator
from aclnnop.pooling.maximum import NEWER, VolumeIn, VolumeOut, VolumePlacesOut, maximum, sliding_examples, sliding_windows


@operator(products=NEWER)
def aclnnMaxPool3dWithArgmax(
    self: VolumeIn,
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    ceilMode: Bool,
    out: VolumeOut,
    indices: VolumePlacesOut,
) -> Plan:
    """Take the largest element of each window and its place in its volume."""
    return maximum(self, sliding_windows(self, 3, kernelSize, stride, padding, dilation, ceil=ceilMode), out, indices)


aclnnMaxPool3dWithArgmax.example(lambda: sliding_examples(aclnnMaxPool3dWithArgmax, 3))
