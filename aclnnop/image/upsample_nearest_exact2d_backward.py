"""aclnnUpsampleNearestExact2dBackward: the gradient of the nearest neighbours of centres along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, NEWER, upsample_backward

aclnnUpsampleNearestExact2dBackward = upsample_backward(
    "aclnnUpsampleNearestExact2dBackward", Rule.EXACT, 2, *FLOATS, products=NEWER, first="gradOutput", signed=False, loose=True
)
