"""aclnnUpsampleNearestExact2d: the nearest neighbours of centres along two axes."""

from acl_emu.core.dtypes import UINT8
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, INFERENCE, SMALL_PIXELS, upsample

aclnnUpsampleNearestExact2d = upsample(
    "aclnnUpsampleNearestExact2d", Rule.EXACT, 2, *FLOATS, UINT8, on=SMALL_PIXELS, products=INFERENCE, least=0
)
