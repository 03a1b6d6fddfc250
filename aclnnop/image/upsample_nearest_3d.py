"""aclnnUpsampleNearest3d: nearest neighbours along three axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import PIXELS, VOLUMES, upsample

aclnnUpsampleNearest3d = upsample("aclnnUpsampleNearest3d", Rule.NEAREST, 3, *PIXELS, on=VOLUMES, channels=True)
