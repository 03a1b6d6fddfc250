"""aclnnErfinv and aclnnInplaceErfinv: what the error function is every element of."""

from typing import Any

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.special import erfinv
from aclnnop.math.unary import FLOATS, INTEGRAL, NEWER, unary


@unary(*FLOATS, *INTEGRAL, on={Product.A910: (FLOAT, FLOAT16)}, products=NEWER | {Product.A910})
def aclnnErfinv(self: Array) -> Any:
    """Invert the error function at every element."""
    return erfinv(self)


aclnnInplaceErfinv = in_place(aclnnErfinv, const=True)
