"""aclnnSin and aclnnInplaceSin: the sine of every element."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import FLOATING, FLOATS, INTEGRAL, unary


@unary(*FLOATING, *INTEGRAL)
def aclnnSin(self: Array) -> Any:
    """Take the sine of every element."""
    return np.sin(self)


aclnnInplaceSin = in_place(aclnnSin, *FLOATS, on={Product.A310B: (FLOAT, FLOAT16)})
