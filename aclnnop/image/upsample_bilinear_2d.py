"""aclnnUpsampleBilinear2d, aclnnUpsampleBilinear2dAA: linear interpolation along two axes, plain and anti-aliased."""

from acl_emu.core.dtypes import DOUBLE
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, NEWER, upsample

aclnnUpsampleBilinear2d = upsample("aclnnUpsampleBilinear2d", Rule.LINEAR, 2, *FLOATS, DOUBLE, signed=False)
aclnnUpsampleBilinear2dAA = upsample(
    "aclnnUpsampleBilinear2dAA", Rule.SMOOTH_LINEAR, 2, *FLOATS, products=NEWER, first="input", signed=False
)
