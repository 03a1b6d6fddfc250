"""aclnnSinc and aclnnInplaceSinc: the normalised sine quotient of every element."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import NEWER, WHOLE, unary


@unary(FLOAT, FLOAT16, DOUBLE, on={Product.A950: (FLOAT, FLOAT16, DOUBLE, *WHOLE)}, products=NEWER | {Product.A910})
def aclnnSinc(self: Array) -> Any:
    """Divide the sine of pi times every element by pi times it; at zero the quotient is one."""
    return np.sinc(self)


aclnnInplaceSinc = in_place(aclnnSinc)
