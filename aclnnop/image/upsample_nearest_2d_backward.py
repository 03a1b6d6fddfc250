"""aclnnUpsampleNearest2dBackward: the gradient of nearest neighbours along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, OLDER_HALVES, upsample_backward

aclnnUpsampleNearest2dBackward = upsample_backward(
    "aclnnUpsampleNearest2dBackward", Rule.NEAREST, 2, *FLOATS, on=OLDER_HALVES, last="gradInput"
)
