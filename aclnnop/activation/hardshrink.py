"""aclnnHardshrink: elements near zero become zero."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.elu import Castable
from aclnnop.activation.pointwise import pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, products=ALL - {Product.A310B}, settings=({"lambd": 0.5},))
def aclnnHardshrink(self: Array, lambd: Castable) -> Any:
    """Replace every element between ``-lambd`` and ``lambd`` by zero."""
    return np.where((self >= -lambd) & (self <= lambd), 0, self)
