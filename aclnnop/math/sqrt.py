"""aclnnSqrt and aclnnInplaceSqrt: the square root of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, NEWER, unary


@unary(*FLOATING, *INTEGRAL, products=NEWER | {Product.A910})
def aclnnSqrt(self: Array) -> Any:
    """Take the square root of every element."""
    return np.sqrt(self)


aclnnInplaceSqrt = in_place(aclnnSqrt, ref="self")
