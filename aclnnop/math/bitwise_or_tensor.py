"""aclnnBitwiseOrTensor and aclnnInplaceBitwiseOrTensor: the bits that either one of every pair of elements has."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.binary import EVERY, WIDE_BITS, binary


@binary(*WIDE_BITS, results=WIDE_BITS, results_on={Product.A950: EVERY})
def aclnnBitwiseOrTensor(self: Array, other: Array) -> Any:
    """Take the bits that either one of every pair of elements has."""
    return np.bitwise_or(self, other)


aclnnInplaceBitwiseOrTensor = in_place(aclnnBitwiseOrTensor)
