"""aclnnSiluBackward: the gradient of aclnnSilu."""

from typing import Any

from acl_emu.spec import Array, Product
from aclnnop.activation.curves import swish_slope
from aclnnop.activation.pointwise import NEWER, broadcast, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, shapes=broadcast, products=NEWER | {Product.A910}, out="gradInput")
def aclnnSiluBackward(gradOutput: Array, self: Array) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnSilu at ``self``."""
    return gradOutput * swish_slope(self)
