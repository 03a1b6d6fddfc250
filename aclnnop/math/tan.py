"""aclnnTan and aclnnInplaceTan: the tangent of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL, products=ALL - {Product.A950, Product.A310B})
def aclnnTan(self: Array) -> Any:
    """Take the tangent of every element."""
    return np.tan(self)


aclnnInplaceTan = in_place(aclnnTan, const=True)
