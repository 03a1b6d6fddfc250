"""aclnnUpsampleNearestExact3dBackward: the gradient of the nearest neighbours of centres along three axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, NEWER, upsample_backward

aclnnUpsampleNearestExact3dBackward = upsample_backward(
    "aclnnUpsampleNearestExact3dBackward", Rule.EXACT, 3, *FLOATS, products=NEWER, last="gradInput", most=50
)
