"""aclnnSign: the sign of every element."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import BOOL, INT32, INT64
from acl_emu.spec import ALL, Array, Product
from aclnnop.math.unary import FLOATING, same, unary


@unary(*FLOATING, INT32, INT64, BOOL, rule=same, products=ALL - {Product.A310B}, out="result")
def aclnnSign(self: Array) -> Any:
    """Take the sign of every element: -1, 0 or 1, or a complex number of length one in its direction."""
    if np.iscomplexobj(self):
        return np.where(self == 0, 0, self / np.where(self == 0, 1, np.abs(self)))
    return np.sign(self)
