"""aclnnSquaredRelu: the square of every positive element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.unary import FLOATS, NEWER, same, unary


@unary(*FLOATS, rule=same, const_out=True, products=NEWER)
def aclnnSquaredRelu(input: Array) -> Any:
    """Square every positive element, and replace the others by zero."""
    return np.square(np.where(input <= 0, 0, input))
