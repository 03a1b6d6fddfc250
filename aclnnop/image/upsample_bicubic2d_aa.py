"""aclnnUpsampleBicubic2dAA: anti-aliased cubic interpolation along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, NEWER, upsample

aclnnUpsampleBicubic2dAA = upsample("aclnnUpsampleBicubic2dAA", Rule.SMOOTH_CUBIC, 2, *FLOATS, products=NEWER, first="x")
