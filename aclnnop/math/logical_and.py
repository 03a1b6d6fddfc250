"""aclnnLogicalAnd and aclnnInplaceLogicalAnd: whether of every pair of elements both are true."""

from typing import Any

from acl_emu.spec import Array, in_place
from aclnnop.math.binary import NUMBERS, binary, truth


@binary(*NUMBERS, rule=truth)
def aclnnLogicalAnd(self: Array, other: Array) -> Any:
    """Tell whether of every pair of elements both are true: every number but zero is."""
    return (self != 0) & (other != 0)


aclnnInplaceLogicalAnd = in_place(aclnnLogicalAnd)
