"""aclnnErf and aclnnInplaceErf: the error function of every element."""

from typing import Any

from acl_emu.core.dtypes import BOOL, INT64
from acl_emu.engine.numeric import erf
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import NEWER, REALS, unary


@unary(*REALS, INT64, BOOL, products=NEWER | {Product.A910})
def aclnnErf(self: Array) -> Any:
    """Take the error function of every element."""
    return erf(self)


aclnnInplaceErf = in_place(aclnnErf)
