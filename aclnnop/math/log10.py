"""aclnnLog10 and aclnnInplaceLog10: the logarithm to base ten of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL, products=ALL - {Product.A310B})
def aclnnLog10(self: Array) -> Any:
    """Take the logarithm to base ten of every element."""
    return np.log10(self)


aclnnInplaceLog10 = in_place(aclnnLog10)
