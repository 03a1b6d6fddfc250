"""aclnnReciprocal and aclnnInplaceReciprocal: one divided by every element."""

from typing import Any

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL, products=ALL - {Product.A310B}, one_format=True)
def aclnnReciprocal(self: Array) -> Any:
    """Divide one by every element."""
    return 1 / self


aclnnInplaceReciprocal = in_place(aclnnReciprocal, const=True)
