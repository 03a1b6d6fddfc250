"""aclnnLogAddExp2: the logarithm of the sum of two powers of two."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import ORDERED, binary, floating
from aclnnop.math.unary import FLOATS


@binary(*ORDERED, results=FLOATS, rule=floating)
def aclnnLogAddExp2(self: Array, other: Array) -> Any:
    """Take the logarithm to base 2 of ``2^self + 2^other``, without overflow."""
    return np.logaddexp2(self, other)
