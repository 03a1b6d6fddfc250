"""aclnnIsPosInf: whether every element is positive infinity."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product
from aclnnop.math.predicate import predicate
from aclnnop.math.unary import NEWER, REALS


@predicate(*REALS, products=NEWER | {Product.A310P})
def aclnnIsPosInf(self: Array) -> Any:
    """Tell whether every element is positive infinity."""
    return self == np.inf
