"""aclnnErfc and aclnnInplaceErfc: one less the error function of every element."""

from typing import Any

from acl_emu.core.dtypes import BOOL, INT64
from acl_emu.engine.numeric import erfc
from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import REALS, unary


@unary(*REALS, INT64, BOOL, products=ALL - {Product.A310B})
def aclnnErfc(self: Array) -> Any:
    """Take one less the error function of every element."""
    return erfc(self)


aclnnInplaceErfc = in_place(aclnnErfc, const=True)
