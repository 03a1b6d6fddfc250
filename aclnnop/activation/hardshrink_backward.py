"""aclnnHardshrinkBackward: the gradient of aclnnHardshrink."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product
from aclnnop.activation.elu import Castable
from aclnnop.activation.pointwise import NEWER, broadcast, pointwise, promoted
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, rule=promoted, shapes=broadcast, products=NEWER | {Product.A910}, out="gradInput", settings=({"lambd": 0.5},))
def aclnnHardshrinkBackward(gradOutput: Array, self: Array, lambd: Castable) -> Any:
    """Take zero where ``self`` is between ``-lambd`` and ``lambd``, and ``gradOutput`` elsewhere; a negative ``lambd`` counts as 0."""
    bound = max(lambd, 0.0)
    return np.where((self >= -bound) & (self <= bound), 0, gradOutput)
