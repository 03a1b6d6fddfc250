"""aclnnRightShift: the bits of every element moved down."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import INTEGERS, UNSIGNED, binary
from aclnnop.math.unary import NEWER


@binary(*INTEGERS, *UNSIGNED, products=NEWER)
def aclnnRightShift(input: Array, shiftBits: Array) -> Any:
    """Move the bits of every element down, copies of the sign into their place; a negative shift counts as none."""
    return np.right_shift(input, np.maximum(shiftBits, 0))
