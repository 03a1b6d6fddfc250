"""aclnnNeg and aclnnInplaceNeg: every element with the other sign."""

from typing import Any

from acl_emu.core.dtypes import INT8, INT32, INT64
from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, converted, unary


@unary(*FLOATING, INT8, INT32, INT64, rule=converted, products=ALL - {Product.A310P})
def aclnnNeg(self: Array) -> Any:
    """Change the sign of every element."""
    return -self


aclnnInplaceNeg = in_place(aclnnNeg)
