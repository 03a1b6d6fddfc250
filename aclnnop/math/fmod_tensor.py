"""aclnnFmodTensor and aclnnInplaceFmodTensor: what a quotient that is rounded towards zero leaves."""

from typing import Any

from acl_emu.core.dtypes import INT8, INT32, INT64, UINT8
from acl_emu.spec import Array, in_place
from aclnnop.math.binary import binary
from aclnnop.math.quotient import integer_modulus, modulus
from aclnnop.math.unary import REALS


@binary(*REALS, INT8, INT32, INT64, UINT8, integers=integer_modulus)
def aclnnFmodTensor(self: Array, other: Array) -> Any:
    """Take the remainder of every element divided by the other one; its sign is that of the dividend."""
    return modulus(self, other)


aclnnInplaceFmodTensor = in_place(aclnnFmodTensor)
