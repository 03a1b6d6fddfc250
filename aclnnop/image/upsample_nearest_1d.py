"""aclnnUpsampleNearest1d: nearest neighbours along one axis."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import PIXELS, upsample

aclnnUpsampleNearest1d = upsample("aclnnUpsampleNearest1d", Rule.NEAREST, 1, *PIXELS, scales=())
