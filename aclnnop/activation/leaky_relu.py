"""aclnnLeakyRelu and aclnnInplaceLeakyRelu: negative elements are scaled."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import DOUBLE
from acl_emu.spec import Array, Product, in_place
from aclnnop.activation.pointwise import NEWER, Real, converted, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, DOUBLE, rule=converted, products=NEWER | {Product.A910}, settings=({"negativeSlope": 0.1},))
def aclnnLeakyRelu(self: Array, negativeSlope: Real) -> Any:
    """Scale every element that is not positive by ``negativeSlope``."""
    return np.where(self > 0, self, self * negativeSlope)


aclnnInplaceLeakyRelu = in_place(aclnnLeakyRelu)
