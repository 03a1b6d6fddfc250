"""aclnnBitwiseAndTensorOut and aclnnInplaceBitwiseAndTensorOut: aclnnBitwiseAndTensor by another name."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, in_place
from aclnnop.math.binary import BITS, NOT_310, WIDE_BITS, binary


@binary(*BITS, results=WIDE_BITS, products=NOT_310)
def aclnnBitwiseAndTensorOut(self: Array, other: Array) -> Any:
    """Take the bits that every pair of elements has in common."""
    return np.bitwise_and(self, other)


aclnnInplaceBitwiseAndTensorOut = in_place(aclnnBitwiseAndTensorOut, ref="self", const=True)
