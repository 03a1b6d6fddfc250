"""aclnnAdaptiveMaxPool3dBackward: the gradient of aclnnAdaptiveMaxPool3d."""

from acl_emu.core.dtypes import INT32
from acl_emu.spec import Plan, operator
from aclnnop.pooling.maximum import NEWER, VolumeIn, VolumeOut, VolumePlaces, adaptive_examples, maximum_gradient
from aclnnop.pooling.windows import share, spatial


@operator(products=NEWER)
def aclnnAdaptiveMaxPool3dBackward(gradOutput: VolumeIn, self: VolumeIn, indices: VolumePlaces, gradInput: VolumeOut) -> Plan:
    """Add the gradients up where the largest elements were."""
    return maximum_gradient(gradOutput, self, indices, share(self, 3, spatial(gradOutput, 3)), gradInput)


aclnnAdaptiveMaxPool3dBackward.example(lambda: adaptive_examples(aclnnAdaptiveMaxPool3dBackward, 3, INT32))
