"""aclnnHeaviside: zero for negative elements, one for positive ones, and another tensor's where they are zero."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.activation.pointwise import NEWER, broadcast, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, shapes=broadcast, products=NEWER)
def aclnnHeaviside(input: Array, values: Array) -> Any:
    """Take 0 where ``input`` is negative, ``values`` where it is zero, and 1 where it is positive."""
    return np.where(input == 0, values, np.where(input > 0, 1, 0))
