"""aclnnUpsampleNearestExact1d: the nearest neighbours of centres along one axis."""

from acl_emu.core.dtypes import UINT8
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, INFERENCE, SMALL_PIXELS, upsample

aclnnUpsampleNearestExact1d = upsample(
    "aclnnUpsampleNearestExact1d", Rule.EXACT, 1, *FLOATS, UINT8, on=SMALL_PIXELS, products=INFERENCE, least=0
)
