"""aclnnMish and aclnnInplaceMish: every element times the hyperbolic tangent of its softplus."""

from typing import Any

from acl_emu.spec import Array, Product, in_place
from aclnnop.activation.curves import mish
from aclnnop.math.unary import FLOATS, NEWER, same, unary


@unary(*FLOATS, rule=same, products=NEWER | {Product.A910})
def aclnnMish(self: Array) -> Any:
    """Multiply every element with the hyperbolic tangent of its softplus."""
    return mish(self)


aclnnInplaceMish = in_place(aclnnMish)
