"""aclnnLog and aclnnInplaceLog: the natural logarithm of every element."""

from typing import Any

import numpy as np

from acl_emu.core.formats import ANY_FORMAT
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import FLOATING, INTEGRAL, NEWER, unary


@unary(*FLOATING, *INTEGRAL, products=NEWER | {Product.A910}, formats=ANY_FORMAT)
def aclnnLog(self: Array) -> Any:
    """Take the natural logarithm of every element."""
    return np.log(self)


aclnnInplaceLog = in_place(aclnnLog)
