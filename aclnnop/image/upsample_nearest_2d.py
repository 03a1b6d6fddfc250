"""aclnnUpsampleNearest2d: nearest neighbours along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import OLDER_PIXELS, PIXELS, upsample

aclnnUpsampleNearest2d = upsample("aclnnUpsampleNearest2d", Rule.NEAREST, 2, *PIXELS, on=OLDER_PIXELS, scales=())
