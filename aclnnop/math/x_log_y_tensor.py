"""aclnnXLogYTensor and aclnnInplaceXLogYTensor: every element times the logarithm of the other one."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, in_place
from aclnnop.math.binary import binary, floating
from aclnnop.math.unary import FLOATS, INTEGRAL


@binary(*FLOATS, *INTEGRAL, rule=floating)
def aclnnXLogYTensor(self: Array, other: Array) -> Any:
    """Multiply every element by the logarithm of the other one; zero stays zero, unless the other one is NaN."""
    return np.where((self == 0) & (other == other), 0, self * np.log(other))


aclnnInplaceXLogYTensor = in_place(aclnnXLogYTensor)
