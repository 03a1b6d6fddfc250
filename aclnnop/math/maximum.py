"""aclnnMaximum: the larger one of every pair of elements."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import REAL_NUMBERS, binary


@binary(*REAL_NUMBERS)
def aclnnMaximum(self: Array, other: Array) -> Any:
    """Take the larger one of every pair of elements, NaN where one of them is."""
    return np.maximum(self, other)
