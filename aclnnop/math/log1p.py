"""aclnnLog1p and aclnnInplaceLog1p: the natural logarithm of one more than every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import INTEGRAL, REALS, unary


@unary(*REALS, *INTEGRAL, products=ALL - {Product.A310B})
def aclnnLog1p(self: Array) -> Any:
    """Take the natural logarithm of one more than every element."""
    return np.log1p(self)


aclnnInplaceLog1p = in_place(aclnnLog1p)
