"""aclnnAcos and aclnnInplaceAcos: the angle whose cosine every element is."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import INTEGRAL, REALS, unary


@unary(*REALS, *INTEGRAL, products=ALL - {Product.A950, Product.A310B})
def aclnnAcos(input: Array) -> Any:
    """Take the arc cosine of every element."""
    return np.arccos(input)


aclnnInplaceAcos = in_place(aclnnAcos)
