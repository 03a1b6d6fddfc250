"""aclnnIsNegInf: whether every element is negative infinity."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product
from aclnnop.math.predicate import predicate
from aclnnop.math.unary import NEWER, REALS


@predicate(*REALS, products=NEWER | {Product.A310P})
def aclnnIsNegInf(self: Array) -> Any:
    """Tell whether every element is negative infinity."""
    return self == -np.inf
