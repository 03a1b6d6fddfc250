"""aclnnSin and aclnnInplaceSin: the sine of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL)
def aclnnSin(self: Array) -> Any:
    """Take the sine of every element."""
    return np.sin(self)


aclnnInplaceSin = in_place(aclnnSin)
