"""aclnnCos and aclnnInplaceCos: the cosine of every element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL)
def aclnnCos(input: Array) -> Any:
    """Take the cosine of every element."""
    return np.cos(input)


aclnnInplaceCos = in_place(aclnnCos)
