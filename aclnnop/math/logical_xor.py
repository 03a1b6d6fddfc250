"""aclnnLogicalXor: whether of every pair of elements one of them is true, and not both."""

from typing import Any

from acl_emu.spec import Array
from aclnnop.math.binary import NUMBERS, binary, truth


@binary(*NUMBERS, rule=truth)
def aclnnLogicalXor(self: Array, other: Array) -> Any:
    """Tell whether of every pair of elements one of them is true, and not both: every number but zero is."""
    return (self != 0) != (other != 0)
