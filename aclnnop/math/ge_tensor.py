"""aclnnGeTensor and aclnnInplaceGeTensor: whether every element is greater than or equal to the other one."""

from typing import Any

from acl_emu.spec import Array, in_place
from aclnnop.math.binary import EVERY, ORDERED, binary, truth


@binary(*ORDERED, results=EVERY, rule=truth)
def aclnnGeTensor(self: Array, other: Array) -> Any:
    """Tell whether every element is greater than or equal to the other one."""
    return self >= other


aclnnInplaceGeTensor = in_place(aclnnGeTensor)
