"""aclnnCeil and aclnnInplaceCeil: every element rounded up."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import REALS, same, unary


@unary(*REALS, rule=same, products=ALL - {Product.A310B})
def aclnnCeil(self: Array) -> Any:
    """Round every element up to an integer."""
    return np.ceil(self)


aclnnInplaceCeil = in_place(aclnnCeil)
