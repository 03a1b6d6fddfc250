"""aclnnUpsampleBilinear2dBackward: the gradient of linear interpolation along two axes."""

from acl_emu.spec import Product
from aclnnop.image.resampling import Rule
from aclnnop.image.upsampling import FLOATS, HALVES, upsample_backward

aclnnUpsampleBilinear2dBackward = upsample_backward(
    "aclnnUpsampleBilinear2dBackward",
    Rule.LINEAR,
    2,
    *FLOATS,
    on=dict.fromkeys((Product.A3, Product.A2), HALVES),
    whole=True,
    narrowing=frozenset({Product.A950}),
)
