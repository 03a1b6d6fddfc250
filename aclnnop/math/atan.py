"""aclnnAtan and aclnnInplaceAtan: the angle whose tangent every element is."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATS, INTEGRAL, REALS, unary


@unary(*REALS, *INTEGRAL, on={Product.A950: (*FLOATS, *INTEGRAL)}, products=ALL - {Product.A310B})
def aclnnAtan(input: Array) -> Any:
    """Take the arc tangent of every element."""
    return np.arctan(input)


aclnnInplaceAtan = in_place(aclnnAtan)
