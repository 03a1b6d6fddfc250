"""aclnnLogicalNot and aclnnInplaceLogicalNot: whether every element is zero."""

from typing import Any

from acl_emu.spec import Array, in_place
from aclnnop.math.binary import REAL_NUMBERS
from aclnnop.math.predicate import predicate


@predicate(*REAL_NUMBERS, results=REAL_NUMBERS)
def aclnnLogicalNot(self: Array) -> Any:
    """Tell whether every element is zero."""
    return self == 0


aclnnInplaceLogicalNot = in_place(aclnnLogicalNot)
