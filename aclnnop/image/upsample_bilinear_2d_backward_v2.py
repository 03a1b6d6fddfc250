"""aclnnUpsampleBilinear2dBackwardV2: the gradient of linear interpolation along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, upsample_backward

aclnnUpsampleBilinear2dBackwardV2 = upsample_backward("aclnnUpsampleBilinear2dBackwardV2", Rule.LINEAR, 2, *FLOATS, whole=True)
