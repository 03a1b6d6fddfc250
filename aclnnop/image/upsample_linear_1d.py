"""aclnnUpsampleLinear1d: linear interpolation along one axis."""

from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, TRAINING, upsample

aclnnUpsampleLinear1d = upsample("aclnnUpsampleLinear1d", Rule.LINEAR, 1, *FLOATS, products=TRAINING)
