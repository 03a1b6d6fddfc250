"""aclnnEqTensor and aclnnInplaceEqTensor: whether every element is equal to the other one."""

from typing import Any

from acl_emu.core.dtypes import UINT32, UINT64
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.binary import EVERY, NARROWER, NOT_310, NUMBERS, binary, truth

TYPES = (*NUMBERS, UINT32, UINT64)
ON = {**NARROWER, Product.A950: (*NUMBERS, UINT64), Product.A910: TYPES}


@binary(*TYPES, results=EVERY, rule=truth, on=ON, results_on=NARROWER, products=NOT_310)
def aclnnEqTensor(self: Array, other: Array) -> Any:
    """Tell whether every element is equal to the other one."""
    return self == other


aclnnInplaceEqTensor = in_place(aclnnEqTensor, const=True)
