"""aclnnSoftplus: a smooth ramp."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.elu import Castable
from aclnnop.activation.pointwise import converted, pointwise
from aclnnop.math.unary import FLOATS

SETTINGS = ({"beta": 1.5, "threshold": 2.0}, {"beta": 1, "threshold": 20})


@pointwise(*FLOATS, rule=converted, products=ALL - {Product.A310B}, settings=SETTINGS)
def aclnnSoftplus(self: Array, beta: Castable, threshold: Castable) -> Any:
    """Take ``log(1 + exp(beta * self)) / beta``, or the element itself where ``beta`` times it is above ``threshold``."""
    scaled = self * beta
    return np.where(scaled > threshold, self, (np.maximum(scaled, 0) + np.log1p(np.exp(-np.abs(scaled)))) / beta)
