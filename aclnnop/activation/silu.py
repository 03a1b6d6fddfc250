"""aclnnSilu: every element times its logistic function."""

from typing import Any

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.curves import swish
from aclnnop.math.unary import FLOATS, same, unary


@unary(*FLOATS, rule=same, products=ALL - {Product.A310B})
def aclnnSilu(self: Array) -> Any:
    """Multiply every element with its logistic function."""
    return swish(self)
