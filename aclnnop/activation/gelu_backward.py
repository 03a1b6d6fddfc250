"""aclnnGeluBackward: the gradient of the Gaussian error linear unit."""

from typing import Any

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.curves import gelu_slope
from aclnnop.activation.pointwise import broadcast, pointwise, promoted
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, rule=promoted, shapes=broadcast, products=ALL - {Product.A310B}, out="gradInput", const_out=True)
def aclnnGeluBackward(gradOutput: Array, self: Array) -> Any:
    """Scale ``gradOutput`` by the slope at ``self``, by the formula with the error function."""
    return gradOutput * gelu_slope(self)
