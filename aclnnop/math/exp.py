"""aclnnExp and aclnnInplaceExp: e to the power of every element."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import BOOL, INT64, DType
from acl_emu.spec import ALL, Array, Operand, Product, in_place, require
from aclnnop.math.unary import FLOATING, floating, unary


def real_unless_complex(self: Operand, out: Operand) -> DType:
    """As ``floating``, but integers have no complex result."""
    require(
        self.dtype in FLOATING or out.dtype.kind == "float",
        f"out has dtype {out.dtype}, expected a floating-point type where self has dtype {self.dtype}",
    )
    return floating(self, out)


@unary(*FLOATING, INT64, BOOL, results=FLOATING, rule=real_unless_complex, products=ALL - {Product.A310B})
def aclnnExp(self: Array) -> Any:
    """Raise e to the power of every element."""
    return np.exp(self)


aclnnInplaceExp = in_place(aclnnExp)
