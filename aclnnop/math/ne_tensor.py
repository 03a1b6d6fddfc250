"""aclnnNeTensor and aclnnInplaceNeTensor: whether every element is other than the other one."""

from typing import Any

from acl_emu.core.dtypes import UINT64
from acl_emu.spec import Array, in_place
from aclnnop.math.binary import EVERY, NARROWER, NOT_310, NUMBERS, binary, truth


@binary(*NUMBERS, UINT64, results=EVERY, rule=truth, on=NARROWER, results_on=NARROWER, products=NOT_310)
def aclnnNeTensor(self: Array, other: Array) -> Any:
    """Tell whether every element is other than the other one."""
    return self != other


aclnnInplaceNeTensor = in_place(aclnnNeTensor)
