"""aclnnTrunc and aclnnInplaceTrunc: every element rounded towards zero."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATS, same, unary


@unary(*FLOATS, rule=same, products=ALL - {Product.A310B})
def aclnnTrunc(self: Array) -> Any:
    """Round every element towards zero to an integer."""
    return np.trunc(self)


aclnnInplaceTrunc = in_place(aclnnTrunc)
