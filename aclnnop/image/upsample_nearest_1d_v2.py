"""aclnnUpsampleNearest1dV2: nearest neighbours along one axis."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import PIXELS, upsample

aclnnUpsampleNearest1dV2 = upsample("aclnnUpsampleNearest1dV2", Rule.NEAREST, 1, *PIXELS, scales=("scaleL",), scale="float")
