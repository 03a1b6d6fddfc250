"""aclnnBitwiseOrScalar and aclnnInplaceBitwiseOrScalar: the bits that every element or a number has."""

from acl_emu.spec import In, Out, Product, in_place
from aclnnop.math.binary import BITS, EVERY, WIDE_BITS, with_scalar
from aclnnop.math.bitwise_or_tensor import aclnnBitwiseOrTensor
from aclnnop.math.unary import REALS

aclnnBitwiseOrScalar = with_scalar(
    aclnnBitwiseOrTensor,
    "aclnnBitwiseOrScalar",
    tensor=In(*BITS, on={Product.A950: WIDE_BITS}),
    out=Out(*REALS, *BITS, on={Product.A950: EVERY}),
)
aclnnInplaceBitwiseOrScalar = in_place(aclnnBitwiseOrScalar)
