"""aclnnUpsampleNearest2dV2: nearest neighbours along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import OLDER_PIXELS, PIXELS, upsample

aclnnUpsampleNearest2dV2 = upsample("aclnnUpsampleNearest2dV2", Rule.NEAREST, 2, *PIXELS, on=OLDER_PIXELS, scale="float")
