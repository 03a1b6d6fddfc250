"""aclnnHardswishBackwardV2: the gradient of aclnnHardswish, with other slopes at the bends."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product
from aclnnop.activation.pointwise import NEWER, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, products=NEWER | {Product.A910})
def aclnnHardswishBackwardV2(gradOutput: Array, self: Array) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnHardswish at ``self``; at -3 it is 0, at 3 it is 1."""
    return gradOutput * np.where(self <= -3, 0, np.where(self >= 3, 1, self / 3 + 0.5))
