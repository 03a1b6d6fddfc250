"""aclnnUpsampleBicubic2dBackward: the gradient of cubic interpolation along two axes."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, TRAINING, upsample_backward

aclnnUpsampleBicubic2dBackward = upsample_backward(
    "aclnnUpsampleBicubic2dBackward", Rule.CUBIC, 2, *FLOATS, products=TRAINING, last="gradInput", whole=True
)
