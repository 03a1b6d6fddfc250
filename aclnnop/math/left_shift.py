"""aclnnLeftShift and aclnnLeftShifts: the bits of every element moved up."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import INTEGERS, UNSIGNED, binary, with_scalar
from aclnnop.math.unary import NEWER


@binary(*INTEGERS, *UNSIGNED, products=NEWER)
def aclnnLeftShift(self: Array, shiftBits: Array) -> Any:
    """Move the bits of every element up; a shift of the whole width or more, or a negative one, leaves none."""
    return np.left_shift(self, shiftBits)


aclnnLeftShifts = with_scalar(aclnnLeftShift, "aclnnLeftShifts")
