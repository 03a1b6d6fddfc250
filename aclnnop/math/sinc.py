"""aclnnSinc and aclnnInplaceSinc: the normalised sine quotient of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import INTEGRAL, NEWER, REALS, unary, without_bf16

TYPES = (*REALS, *INTEGRAL)


@unary(*TYPES, on={Product.A950: without_bf16(TYPES)}, products=NEWER | {Product.A910})
def aclnnSinc(self: Array) -> Any:
    """Divide the sine of pi times every element by pi times it; at zero the quotient is one."""
    nearest = np.rint(self)
    # The sine of pi times what is left over: pi times a large number would lose the digits that the sine is made of.
    odd = nearest - 2 * np.floor(nearest * 0.5)
    sine = np.sin(np.pi * (self - nearest)) * (1 - 2 * odd)
    return np.where(self == 0, 1, sine / (np.pi * self))


aclnnInplaceSinc = in_place(aclnnSinc)
