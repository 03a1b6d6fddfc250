"""aclnnTanh and aclnnInplaceTanh: the hyperbolic tangent of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import FLOATS, INTEGRAL, NEWER, unary


@unary(*FLOATS, *INTEGRAL, products=NEWER | {Product.A910})
def aclnnTanh(self: Array) -> Any:
    """Take the hyperbolic tangent of every element."""
    return np.tanh(self)


aclnnInplaceTanh = in_place(aclnnTanh)
