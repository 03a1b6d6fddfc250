"""aclnnFloor and aclnnInplaceFloor: every element rounded down."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import NEWER, REALS, same, unary, unchanged


@unary(*REALS, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, rule=same, integers=unchanged, products=NEWER | {Product.A910})
def aclnnFloor(self: Array) -> Any:
    """Round every element down to an integer."""
    return np.floor(self)


aclnnInplaceFloor = in_place(aclnnFloor)
