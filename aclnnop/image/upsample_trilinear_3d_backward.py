"""aclnnUpsampleTrilinear3dBackward: the gradient of linear interpolation along three axes."""

from acl_emu.core.dtypes import DOUBLE
from acl_emu.spec import Product
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import EVERY, FLOATS, upsample_backward

aclnnUpsampleTrilinear3dBackward = upsample_backward(
    "aclnnUpsampleTrilinear3dBackward", Rule.LINEAR, 3, *FLOATS, DOUBLE, products=EVERY - {Product.A950}, last="gradInput"
)
