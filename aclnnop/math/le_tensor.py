"""aclnnLeTensor and aclnnInplaceLeTensor: whether every element is less than or equal to the other one."""

from typing import Any

from acl_emu.core.dtypes import UINT16, UINT64
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.binary import EVERY, REAL_NUMBERS, binary, truth
from aclnnop.math.unary import OLDER

TYPES = (*REAL_NUMBERS, UINT16, UINT64)


@binary(*TYPES, results=EVERY, rule=truth, on=dict.fromkeys((*OLDER, Product.A2, Product.A3), (*REAL_NUMBERS, UINT16)))
def aclnnLeTensor(self: Array, other: Array) -> Any:
    """Tell whether every element is less than or equal to the other one."""
    return self <= other


aclnnInplaceLeTensor = in_place(aclnnLeTensor)
