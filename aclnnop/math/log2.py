"""aclnnLog2 and aclnnInplaceLog2: the logarithm to base two of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL, products=ALL - {Product.A310B}, const_out=True)
def aclnnLog2(self: Array) -> Any:
    """Take the logarithm to base two of every element."""
    return np.log2(self)


aclnnInplaceLog2 = in_place(aclnnLog2, const=True)
