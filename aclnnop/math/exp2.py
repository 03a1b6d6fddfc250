"""aclnnExp2 and aclnnInplaceExp2: two to the power of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import INTEGRAL, REALS, unary


@unary(*REALS, *INTEGRAL, products=ALL - {Product.A310P})
def aclnnExp2(self: Array) -> Any:
    """Raise two to the power of every element."""
    return np.exp2(self)


aclnnInplaceExp2 = in_place(aclnnExp2)
