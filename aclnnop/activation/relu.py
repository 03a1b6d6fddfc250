"""aclnnRelu and aclnnInplaceRelu: every element, or zero where it is negative."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT8, INT32, INT64, UINT8
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import FLOATS, NEWER, same, unary


@unary(*FLOATS, INT8, INT32, INT64, UINT8, rule=same, const_out=True, products=NEWER | {Product.A910})
def aclnnRelu(self: Array) -> Any:
    """Replace every negative element by zero."""
    return np.where(self <= 0, 0, self)  # NaN stays, and no zero is negative


aclnnInplaceRelu = in_place(aclnnRelu)
