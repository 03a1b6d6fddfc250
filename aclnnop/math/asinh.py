"""aclnnAsinh and aclnnInplaceAsinh: the inverse hyperbolic sine of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL, products=ALL - {Product.A950, Product.A310B})
def aclnnAsinh(input: Array) -> Any:
    """Take the inverse hyperbolic sine of every element."""
    return np.arcsinh(input)


aclnnInplaceAsinh = in_place(aclnnAsinh)
