"""aclnnRemainderTensorTensor, its forms with a number, and what they are in place: what a quotient that is rounded down leaves."""

from typing import Any

from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import Array, In, Out, in_place
from aclnnop.math.binary import INTEGERS, NOT_310, REAL_NUMBERS, binary, with_scalar
from aclnnop.math.quotient import integer_remainder, remainder
from aclnnop.math.unary import COMPLEX, REALS

TYPES = (*REALS, INT32, INT64)


@binary(*REAL_NUMBERS, results=(*REALS, *INTEGERS, *COMPLEX), computed=In(*TYPES), integers=integer_remainder)
def aclnnRemainderTensorTensor(self: Array, other: Array) -> Any:
    """Take the remainder of every element divided by the other one; its sign is that of the divisor."""
    return remainder(self, other)


aclnnInplaceRemainderTensorTensor = in_place(aclnnRemainderTensorTensor, *TYPES)
aclnnRemainderTensorScalar = with_scalar(aclnnRemainderTensorTensor, "aclnnRemainderTensorScalar", products=NOT_310)
aclnnInplaceRemainderTensorScalar = in_place(aclnnRemainderTensorScalar, *TYPES)
aclnnRemainderScalarTensor = with_scalar(
    aclnnRemainderTensorTensor, "aclnnRemainderScalarTensor", scalar="self", tensor=In(*REAL_NUMBERS), out=Out(*TYPES), products=NOT_310
)
