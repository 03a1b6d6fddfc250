"""aclnnHardswish and aclnnInplaceHardswish: every element times a ramp from 0 at -3 to 1 at 3."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import FLOATS, NEWER, converted, unary


@unary(*FLOATS, rule=converted, const_out=True, products=NEWER | {Product.A910})
def aclnnHardswish(self: Array) -> Any:
    """Multiply every element with a ramp from 0 at -3 to 1 at 3."""
    return np.where(self <= -3, 0, np.where(self >= 3, self, self * (self + 3) / 6))


aclnnInplaceHardswish = in_place(aclnnHardswish, ref="self", const=True)
