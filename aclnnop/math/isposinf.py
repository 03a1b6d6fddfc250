"""aclnnIsPosInf: whether every element is positive infinity."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product
from aclnnop.math.binary import REAL_NUMBERS
from aclnnop.math.predicate import never, predicate
from aclnnop.math.unary import NEWER


@predicate(*REAL_NUMBERS, integers=never, products=NEWER | {Product.A310P})
def aclnnIsPosInf(self: Array) -> Any:
    """Tell whether every element is positive infinity."""
    return self == np.inf
