"""aclnnSoftshrink: elements move towards zero."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Product, require
from aclnnop.activation.elu import Castable
from aclnnop.activation.pointwise import pointwise
from aclnnop.math.unary import FLOATS


def not_negative(lambd: float, **_: float) -> None:
    """It is a distance."""
    require(lambd >= 0, f"lambd is {lambd}, expected a value of at least 0")


@pointwise(*FLOATS, check=not_negative, products=ALL - {Product.A310B}, settings=({"lambd": 0.5},))
def aclnnSoftshrink(self: Array, lambd: Castable) -> Any:
    """Move every element by ``lambd`` towards zero, and those that are nearer to zero."""
    return np.where(self > lambd, self - lambd, np.where(self < -lambd, self + lambd, self * 0))
