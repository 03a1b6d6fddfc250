"""aclnnCosh and aclnnInplaceCosh: the hyperbolic cosine of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL, products=ALL - {Product.A950, Product.A310B})
def aclnnCosh(self: Array) -> Any:
    """Take the hyperbolic cosine of every element."""
    return np.cosh(self)


aclnnInplaceCosh = in_place(aclnnCosh)
