"""aclnnIsInf: whether every element is infinite."""

from typing import Any

import numpy as np

from acl_emu.spec import DTYPE, FORMAT, NULL, RANK, Array, Operator, Product
from acl_emu.spec.tiling import in_tiling
from aclnnop.math.binary import REAL_NUMBERS
from aclnnop.math.predicate import never, predicate
from aclnnop.math.unary import NEWER


def tiling(operator: Operator, values: tuple[Any, ...]) -> None:
    """561002 for ranks."""
    with in_tiling():
        RANK(operator, values)


@predicate(*REAL_NUMBERS, integers=never, products=NEWER | {Product.A310P}, const_out=True, checks=(NULL, DTYPE, FORMAT, tiling))
def aclnnIsInf(x: Array) -> Any:
    """Tell whether every element is infinite; integers never are."""
    return np.abs(x) == np.inf
