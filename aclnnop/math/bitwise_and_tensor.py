"""aclnnBitwiseAndTensor and aclnnInplaceBitwiseAndTensor: the bits that every pair of elements has in common."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, in_place
from aclnnop.math.binary import BITS, NOT_310, WIDE_BITS, binary


@binary(*BITS, results=WIDE_BITS)
def aclnnBitwiseAndTensor(self: Array, other: Array) -> Any:
    """Take the bits that every pair of elements has in common."""
    return np.bitwise_and(self, other)


aclnnInplaceBitwiseAndTensor = in_place(aclnnBitwiseAndTensor, const=True, products=NOT_310)
