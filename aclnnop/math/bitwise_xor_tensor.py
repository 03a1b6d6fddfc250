"""aclnnBitwiseXorTensor and aclnnInplaceBitwiseXorTensor: the bits in which every pair of elements differs."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.binary import EVERY, REAL_NUMBERS, WIDE_BITS, binary
from aclnnop.math.unary import INTEGRAL


@binary(*INTEGRAL, on={Product.A950: WIDE_BITS}, results=REAL_NUMBERS, results_on={Product.A950: EVERY})
def aclnnBitwiseXorTensor(self: Array, other: Array) -> Any:
    """Take the bits in which every pair of elements differs."""
    return np.bitwise_xor(self, other)


aclnnInplaceBitwiseXorTensor = in_place(aclnnBitwiseXorTensor)
