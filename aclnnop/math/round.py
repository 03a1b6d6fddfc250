"""aclnnRound and aclnnInplaceRound: every element rounded to the nearest whole number."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import Array, Product, in_place
from aclnnop.math.unary import NEWER, REALS, same, unary, unchanged


@unary(*REALS, INT32, INT64, rule=same, whole=unchanged, products=NEWER | {Product.A910})
def aclnnRound(self: Array) -> Any:
    """Round every element to the nearest whole number, halves to the even one."""
    return np.rint(self)


aclnnInplaceRound = in_place(aclnnRound, const=True)
