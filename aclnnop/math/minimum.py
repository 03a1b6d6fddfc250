"""aclnnMinimum: the smaller one of every pair of elements."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import INTEGERS, REAL_NUMBERS, binary
from aclnnop.math.unary import OLDER, REALS

OLDER_TYPES = (*REALS, *INTEGERS)


@binary(*REAL_NUMBERS, on=dict.fromkeys(OLDER, OLDER_TYPES))
def aclnnMinimum(self: Array, other: Array) -> Any:
    """Take the smaller one of every pair of elements, NaN where one of them is."""
    return np.minimum(self, other)
