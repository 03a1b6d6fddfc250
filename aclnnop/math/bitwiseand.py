"""aclnnBitwiseAndTensorOut and aclnnInplaceBitwiseAndTensorOut: aclnnBitwiseAndTensor by another name, on the newest chips."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.binary import BITS, WIDE_BITS, binary


@binary(*BITS, results=WIDE_BITS, products=frozenset({Product.A950}))
def aclnnBitwiseAndTensorOut(self: Array, other: Array) -> Any:
    """Take the bits that every pair of elements has in common."""
    return np.bitwise_and(self, other)


aclnnInplaceBitwiseAndTensorOut = in_place(aclnnBitwiseAndTensorOut, ref="self", const=True)
