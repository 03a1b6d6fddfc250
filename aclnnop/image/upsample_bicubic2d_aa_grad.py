"""aclnnUpsampleBicubic2dAAGrad: the gradient of anti-aliased cubic interpolation along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, NEWER, upsample_backward

aclnnUpsampleBicubic2dAAGrad = upsample_backward(
    "aclnnUpsampleBicubic2dAAGrad", Rule.SMOOTH_CUBIC, 2, *FLOATS, products=NEWER, first="gradOutput", signed=False, loose=True
)
