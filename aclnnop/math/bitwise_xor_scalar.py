"""aclnnBitwiseXorScalar and aclnnInplaceBitwiseXorScalar: the bits in which every element differs from a number."""

from acl_emu.spec import in_place
from aclnnop.math.binary import WIDE_BITS, with_scalar
from aclnnop.math.bitwise_xor_tensor import aclnnBitwiseXorTensor

aclnnBitwiseXorScalar = with_scalar(aclnnBitwiseXorTensor, "aclnnBitwiseXorScalar", types=WIDE_BITS)
aclnnInplaceBitwiseXorScalar = in_place(aclnnBitwiseXorScalar)
