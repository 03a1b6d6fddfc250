"""aclnnAdaptiveMaxPool3dBackward: the gradient of aclnnAdaptiveMaxPool3d."""

from acl_emu.core import soc
from acl_emu.core.dtypes import INT32
from acl_emu.spec import Plan, operator
from aclnnop.pooling.maximum import (
    NEWER,
    SHORT_PLACES,
    VolumeIn,
    VolumeOut,
    VolumePlaces,
    adaptive_examples,
    check_places,
    maximum_gradient,
)
from aclnnop.pooling.windows import share, spatial


@operator(products=NEWER)
def aclnnAdaptiveMaxPool3dBackward(gradOutput: VolumeIn, self: VolumeIn, indices: VolumePlaces, gradInput: VolumeOut) -> Plan:
    """Add the gradients up where the largest elements were."""
    if soc.current().product in SHORT_PLACES:
        check_places(self, 3)
    return maximum_gradient(gradOutput, self, indices, share(self, 3, spatial(gradOutput, 3)), gradInput)


aclnnAdaptiveMaxPool3dBackward.example(lambda: adaptive_examples(aclnnAdaptiveMaxPool3dBackward, 3, INT32))
