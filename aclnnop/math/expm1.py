"""aclnnExpm1 and aclnnInplaceExpm1: e to the power of every element, less one."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import BOOL, INT64
from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATS, REALS, unary


@unary(*FLOATS, INT64, BOOL, results=REALS, products=ALL - {Product.A310B})
def aclnnExpm1(self: Array) -> Any:
    """Raise e to the power of every element, and subtract one."""
    return np.expm1(self)


aclnnInplaceExpm1 = in_place(aclnnExpm1, *FLOATS)
