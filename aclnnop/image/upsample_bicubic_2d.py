"""aclnnUpsampleBicubic2d: cubic interpolation along two axes."""

from acl_emu.spec import ALL
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, upsample

aclnnUpsampleBicubic2d = upsample("aclnnUpsampleBicubic2d", Rule.CUBIC, 2, *FLOATS, products=ALL, channels=True)
