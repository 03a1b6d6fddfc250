"""aclnnEqTensor and aclnnInplaceEqTensor: whether every element is equal to the other one."""

from typing import Any

from acl_emu.core.dtypes import UINT32, UINT64
from acl_emu.spec import Array, Operator, Product, in_place, require
from aclnnop.math.binary import EVERY, NARROWER, NOT_310, NUMBERS, binary, truth

TYPES = (*NUMBERS, UINT32, UINT64)
ON = {**NARROWER, Product.A950: (*NUMBERS, UINT64), Product.A910: TYPES}


@binary(*TYPES, results=EVERY, rule=truth, on=ON, results_on=NARROWER, products=NOT_310)
def aclnnEqTensor(self: Array, other: Array) -> Any:
    """Tell whether every element is equal to the other one."""
    return self == other


def both_or_none_empty(operator: Operator, values: tuple[Any, ...]) -> None:
    """In place, an empty tensor meets only empty ones."""
    changed, other = values
    require(
        (0 in changed.shape) == (0 in other.shape),
        f"selfRef has shape {list(changed.shape)} and other {list(other.shape)}, expected both to be empty or none",
    )


aclnnInplaceEqTensor = in_place(aclnnEqTensor, *TYPES, on=ON, const=True, checks=(both_or_none_empty,))
