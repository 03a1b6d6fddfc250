"""aclnnAcosh and aclnnInplaceAcosh: the inverse hyperbolic cosine of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, REALS, unary, without_bf16


@unary(*FLOATING, *INTEGRAL, on={Product.A950: without_bf16(REALS)}, products=ALL - {Product.A310B})
def aclnnAcosh(self: Array) -> Any:
    """Take the inverse hyperbolic cosine of every element."""
    return np.arccosh(self)


aclnnInplaceAcosh = in_place(aclnnAcosh)
