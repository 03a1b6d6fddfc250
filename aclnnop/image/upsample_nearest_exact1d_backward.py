"""aclnnUpsampleNearestExact1dBackward: the gradient of the nearest neighbours of centres along one axis."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, NEWER, upsample_backward

aclnnUpsampleNearestExact1dBackward = upsample_backward(
    "aclnnUpsampleNearestExact1dBackward", Rule.EXACT, 1, *FLOATS, products=NEWER, first="gradOutput", signed=False, loose=True
)
