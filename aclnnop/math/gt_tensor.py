"""aclnnGtTensor and aclnnInplaceGtTensor: whether every element is greater than the other one."""

from typing import Any

from acl_emu.spec import Array, in_place
from aclnnop.math.binary import EVERY, ORDERED, binary, truth


@binary(*ORDERED, results=EVERY, rule=truth)
def aclnnGtTensor(self: Array, other: Array) -> Any:
    """Tell whether every element is greater than the other one."""
    return self > other


aclnnInplaceGtTensor = in_place(aclnnGtTensor, const=True)
