"""aclnnGelu: the Gaussian error linear unit, by a hyperbolic tangent."""

from typing import Any

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.curves import tanh_gelu
from aclnnop.activation.pointwise import pointwise
from aclnnop.math.unary import FLOATS, without_bf16


@pointwise(*FLOATS, on={Product.A310B: without_bf16(FLOATS)}, products=ALL - {Product.A310B})
def aclnnGelu(self: Array) -> Any:
    """Weigh every element with the normal distribution function, by the formula with a hyperbolic tangent."""
    return tanh_gelu(self)
