"""aclnnUpsampleLinear1dBackward: the gradient of linear interpolation along one axis."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, TRAINING, upsample_backward

aclnnUpsampleLinear1dBackward = upsample_backward(
    "aclnnUpsampleLinear1dBackward", Rule.LINEAR, 1, *FLOATS, products=TRAINING, most=500, whole=True
)
