"""aclnnHardsigmoidBackward: the gradient of aclnnHardsigmoid."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.pointwise import pointwise, promoted
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, rule=promoted, products=ALL - {Product.A310B})
def aclnnHardsigmoidBackward(gradOutput: Array, self: Array) -> Any:
    """Take a sixth of ``gradOutput`` where ``self`` is between -3 and 3, and 0 elsewhere."""
    return np.where((self > -3) & (self < 3), gradOutput / 6, 0)
