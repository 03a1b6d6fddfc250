"""aclnnShrink: elements near zero become zero, the others move towards it."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Array, Product
from aclnnop.activation.pointwise import NEWER, FloatReal, pointwise
from aclnnop.activation.softshrink import not_negative


@pointwise(FLOAT, FLOAT16, check=not_negative, products=NEWER | {Product.A310P}, settings=({"lambd": 0.5, "bias": 0.25},))
def aclnnShrink(self: Array, lambd: FloatReal, bias: FloatReal) -> Any:
    """Replace every element between ``-lambd`` and ``lambd`` by zero, and move the others by ``bias`` towards it."""
    return np.where(self > lambd, self - bias, np.where(self < -lambd, self + bias, self * 0))
