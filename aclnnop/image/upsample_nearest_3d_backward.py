"""aclnnUpsampleNearest3dBackward: the gradient of nearest neighbours along three axes."""

from acl_emu.core.dtypes import DOUBLE
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, TRAINING, upsample_backward

aclnnUpsampleNearest3dBackward = upsample_backward(
    "aclnnUpsampleNearest3dBackward", Rule.NEAREST, 3, *FLOATS, DOUBLE, products=TRAINING, last="gradInput", whole=True
)
