"""aclnnHardsigmoid and aclnnInplaceHardsigmoid: a ramp from 0 at -3 to 1 at 3."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT32
from acl_emu.spec import Array, Product, in_place
from aclnnop.activation.pointwise import NEWER, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, INT32, integers="truncated", products=NEWER | {Product.A910})
def aclnnHardsigmoid(self: Array) -> Any:
    """Map every element to a ramp from 0 at -3 to 1 at 3; integers are cut off."""
    return np.minimum(np.maximum(self + 3, 0), 6) / 6


aclnnInplaceHardsigmoid = in_place(aclnnHardsigmoid, ref="self", const=True)
