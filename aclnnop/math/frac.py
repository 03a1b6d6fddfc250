"""aclnnFrac and aclnnInplaceFrac: what every element has behind the point."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import FLOATS, NEWER, same, unary


@unary(*FLOATS, UINT8, INT8, INT16, INT32, INT64, rule=same, integers=np.zeros_like, products=NEWER | {Product.A910})
def aclnnFrac(input: Array) -> Any:
    """Take what every element has behind the point, with its sign."""
    return input - np.trunc(input)


aclnnInplaceFrac = in_place(aclnnFrac)
