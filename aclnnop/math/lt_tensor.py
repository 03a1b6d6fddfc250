"""aclnnLtTensor and aclnnInplaceLtTensor: whether every element is less than the other one."""

from typing import Any

from acl_emu.spec import ALL, Array, Product, in_place
from aclnnop.math.binary import EVERY, ORDERED, binary, truth


@binary(*ORDERED, results=EVERY, rule=truth, products=ALL - {Product.A310P})
def aclnnLtTensor(self: Array, other: Array) -> Any:
    """Tell whether every element is less than the other one."""
    return self < other


aclnnInplaceLtTensor = in_place(aclnnLtTensor, const=True)
