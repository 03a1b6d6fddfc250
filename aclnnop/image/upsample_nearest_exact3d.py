"""aclnnUpsampleNearestExact3d: the nearest neighbours of centres along three axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, INFERENCE, upsample

aclnnUpsampleNearestExact3d = upsample("aclnnUpsampleNearestExact3d", Rule.EXACT, 3, *FLOATS, products=INFERENCE, channels=True)
