"""aclnnUpsampleBilinear2dAABackward: the gradient of anti-aliased linear interpolation along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, NEWER, upsample_backward

aclnnUpsampleBilinear2dAABackward = upsample_backward(
    "aclnnUpsampleBilinear2dAABackward",
    Rule.SMOOTH_LINEAR,
    2,
    *FLOATS,
    products=NEWER,
    first="gradOutput",
    signed=False,
    loose=True,
    whole=True,
)
