"""aclnnLogAddExp: the logarithm of the sum of two powers of e."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import ORDERED, binary, floating
from aclnnop.math.unary import FLOATS


@binary(*ORDERED, results=FLOATS, rule=floating)
def aclnnLogAddExp(self: Array, other: Array) -> Any:
    """Take the logarithm to base e of ``e^self + e^other``, without overflow."""
    return np.logaddexp(self, other)
