"""aclnnSquare: the square of every element."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import Array, Product
from aclnnop.math.unary import FLOATS, same, unary


@unary(*FLOATS, INT32, INT64, rule=same, products=frozenset({Product.A950}))
def aclnnSquare(self: Array) -> Any:
    """Square every element."""
    return np.square(self)
