"""aclnnAdaptiveMaxPool3d: the largest elements of windows that share the last three axes out, and where they were."""

from acl_emu.core.dtypes import INT32
from acl_emu.spec import IntArrayIn, Plan, operator
from aclnnop.pooling.maximum import NEWER, VolumeIn, VolumeOut, VolumePlacesOut, adaptive_examples, check_places, maximum
from aclnnop.pooling.windows import output_sizes, share


@operator(products=NEWER)
def aclnnAdaptiveMaxPool3d(self: VolumeIn, outputSize: IntArrayIn, outputOut: VolumeOut, indicesOut: VolumePlacesOut) -> Plan:
    """Take the largest element of each window and its place in its volume."""
    check_places(self, 3)
    return maximum(self, share(self, 3, output_sizes(outputSize, 3)), outputOut, indicesOut)


aclnnAdaptiveMaxPool3d.example(lambda: adaptive_examples(aclnnAdaptiveMaxPool3d, 3, INT32))
