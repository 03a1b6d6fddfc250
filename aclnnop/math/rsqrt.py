"""aclnnRsqrt and aclnnInplaceRsqrt: one divided by the square root of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL)
def aclnnRsqrt(self: Array) -> Any:
    """Divide one by the square root of every element."""
    return 1 / np.sqrt(self)


aclnnInplaceRsqrt = in_place(aclnnRsqrt)
