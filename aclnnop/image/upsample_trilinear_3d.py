"""aclnnUpsampleTrilinear3d: linear interpolation along three axes."""

from acl_emu.core.dtypes import DOUBLE
from acl_emu.spec import Product
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, HALVES, upsample

aclnnUpsampleTrilinear3d = upsample(
    "aclnnUpsampleTrilinear3d", Rule.LINEAR, 3, *FLOATS, DOUBLE, on={Product.A310P: HALVES, Product.A950: FLOATS}, channels=True
)
