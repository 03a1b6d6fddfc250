"""aclnnNanToNum and aclnnInplaceNanToNum: numbers in place of NaN and infinities."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, Float, in_place
from aclnnop.activation.pointwise import NEWER, pointwise
from aclnnop.math.unary import FLOATS, INTEGRAL


@pointwise(*FLOATS, *INTEGRAL, products=NEWER, settings=({"nan": 0.5, "posinf": 1.0, "neginf": -1.0},))
def aclnnNanToNum(self: Array, nan: Float, posinf: Float, neginf: Float) -> Any:
    """Replace NaN, infinity and minus infinity by these numbers; integers stay as they are."""
    if self.dtype.kind != "f":
        return self
    finite = np.where(self == np.inf, posinf, np.where(self == -np.inf, neginf, self))
    return np.where(self != self, nan, finite)


aclnnInplaceNanToNum = in_place(aclnnNanToNum)
