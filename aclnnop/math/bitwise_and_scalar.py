"""aclnnBitwiseAndScalar and aclnnInplaceBitwiseAndScalar: the bits that every element has in common with a number."""

from acl_emu.spec import Out, in_place
from aclnnop.math.binary import BITS, NOT_310, with_scalar
from aclnnop.math.bitwise_and_tensor import aclnnBitwiseAndTensor
from aclnnop.math.unary import REALS

aclnnBitwiseAndScalar = with_scalar(aclnnBitwiseAndTensor, "aclnnBitwiseAndScalar", out=Out(*REALS, *BITS))
aclnnInplaceBitwiseAndScalar = in_place(aclnnBitwiseAndScalar, const=True, products=NOT_310)
