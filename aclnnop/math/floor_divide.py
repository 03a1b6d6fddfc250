"""aclnnFloorDivide, aclnnFloorDivides and what they are in place: quotients, rounded down."""

from typing import Any

from acl_emu.core.dtypes import BOOL
from acl_emu.spec import Array, Out, in_place
from aclnnop.math.binary import INTEGERS, NOT_310, REAL_NUMBERS, binary, with_scalar
from aclnnop.math.quotient import floored, integer_floored
from aclnnop.math.unary import COMPLEX, REALS


@binary(*REAL_NUMBERS, results=(*REALS, *INTEGERS, *COMPLEX), integers=integer_floored)
def aclnnFloorDivide(self: Array, other: Array) -> Any:
    """Divide every element by the other one, and round down."""
    return floored(self, other)


aclnnInplaceFloorDivide = in_place(aclnnFloorDivide, *REAL_NUMBERS)
aclnnFloorDivides = with_scalar(aclnnFloorDivide, "aclnnFloorDivides", out=Out(*REALS, *INTEGERS, BOOL), products=NOT_310)
aclnnInplaceFloorDivides = in_place(aclnnFloorDivides)
