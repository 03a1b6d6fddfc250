"""aclnnCelu and aclnnInplaceCelu: negative elements approach a limit exponentially, without a bend at zero."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Product, in_place, require
from aclnnop.activation.elu import Castable
from aclnnop.activation.pointwise import NEWER, converted, pointwise
from aclnnop.math.unary import FLOATS


def not_zero(alpha: float) -> None:
    """It divides."""
    require(alpha != 0, "alpha is 0, expected another value")


@pointwise(*FLOATS, rule=converted, check=not_zero, products=NEWER | {Product.A910}, settings=({"alpha": 1.5}, {"alpha": -0.75}))
def aclnnCelu(self: Array, alpha: Castable) -> Any:
    """Keep every positive element, and let the others approach ``-alpha`` exponentially."""
    return np.where(self > 0, self, np.expm1(self / alpha) * alpha)


aclnnInplaceCelu = in_place(aclnnCelu)
