"""aclnnSelu and aclnnInplaceSelu: the exponential linear unit that keeps mean and variance."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT8, INT32
from acl_emu.spec import Array, Product, in_place
from aclnnop.activation.curves import SELU_ALPHA, SELU_SCALE
from aclnnop.activation.pointwise import NEWER, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, INT32, INT8, integers="truncated", products=NEWER | {Product.A910})
def aclnnSelu(self: Array) -> Any:
    """Scale every positive element, and let the others approach a limit exponentially; integers are cut off."""
    return SELU_SCALE * np.where(self > 0, self, SELU_ALPHA * np.expm1(self))


aclnnInplaceSelu = in_place(aclnnSelu)
