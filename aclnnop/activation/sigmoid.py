"""aclnnSigmoid and aclnnInplaceSigmoid: the logistic function of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, FLOATS, unary


@unary(*FLOATS, products=ALL - {Product.A310B})
def aclnnSigmoid(self: Array) -> Any:
    """Take the logistic function of every element."""
    if np.iscomplexobj(self):
        return 1 / (1 + np.exp(-self))
    small = np.exp(-np.abs(self))  # never too large, whatever the sign
    return np.where(self < 0, small, 1) / (1 + small)


aclnnInplaceSigmoid = in_place(aclnnSigmoid, *FLOATING)
