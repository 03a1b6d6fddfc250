"""aclnnMishBackward: the gradient of aclnnMish."""

from typing import Any

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.curves import mish_slope
from aclnnop.activation.pointwise import broadcast, pointwise, promoted
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, rule=promoted, shapes=broadcast, products=ALL - {Product.A310B}, out="gradInput")
def aclnnMishBackward(gradOutput: Array, self: Array) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnMish at ``self``."""
    return gradOutput * mish_slope(self)
