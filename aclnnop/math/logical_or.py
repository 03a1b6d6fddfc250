"""aclnnLogicalOr and aclnnInplaceLogicalOr: whether of every pair of elements either is true."""

from typing import Any

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.binary import EVERY, NARROWER, NUMBERS, binary, truth


@binary(*NUMBERS, rule=truth, results=EVERY, results_on={**NARROWER, Product.A310P: NUMBERS})
def aclnnLogicalOr(self: Array, other: Array) -> Any:
    """Tell whether of every pair of elements either is true: every number but zero is."""
    return (self != 0) | (other != 0)


aclnnInplaceLogicalOr = in_place(aclnnLogicalOr)
