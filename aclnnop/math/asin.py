"""aclnnAsin and aclnnInplaceAsin: the angle whose sine every element is."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import INTEGRAL, REALS, unary


@unary(*REALS, *INTEGRAL, products=ALL - {Product.A310B})
def aclnnAsin(self: Array) -> Any:
    """Take the arc sine of every element."""
    return np.arcsin(self)


aclnnInplaceAsin = in_place(aclnnAsin)
