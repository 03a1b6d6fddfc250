"""aclnnLogicalXor: whether of every pair of elements one of them is true, and not both."""

from typing import Any

from acl_emu.core.dtypes import DType
from acl_emu.spec import Array, Operand, require
from aclnnop.math.binary import NUMBERS, binary

MOST_OF_COMPLEX = 7


def truth_of_pairs(dtype: DType, out: Operand) -> DType:
    """A truth value; complex numbers have a dimension less."""
    fits = dtype.kind != "complex" or out.rank <= MOST_OF_COMPLEX
    require(fits, f"self and other are combined in {dtype} in {out.rank} dimensions, expected at most {MOST_OF_COMPLEX}")
    return dtype


@binary(*NUMBERS, rule=truth_of_pairs)
def aclnnLogicalXor(self: Array, other: Array) -> Any:
    """Tell whether of every pair of elements one of them is true, and not both: every number but zero is."""
    return (self != 0) != (other != 0)
