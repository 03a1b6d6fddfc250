"""What operators that apply one function to every element share: products, types of the result, plan."""

from collections.abc import Callable

import numpy as np

from acl_emu.core.dtypes import BF16, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import Array, Operand, Plan, Product, castable, mapped, same_shape

PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})
RESULTS = (FLOAT, FLOAT16, DOUBLE, COMPLEX64, COMPLEX128, BF16)


def elementwise(function: Callable[[Array], Array], self: Operand, out: Operand) -> Plan:
    """``out = function(self)``; whole numbers and truth values are taken as FLOAT, or as DOUBLE where the result is one."""
    exact = self.dtype.kind in ("float", "complex")
    via = self.dtype if exact else DOUBLE if out.dtype is DOUBLE else FLOAT
    castable(via, out)
    same_shape(self, out)
    wide = np.complex128 if via.kind == "complex" else np.float64
    return mapped(function, reads=(self,), writes=(out,), via=via, compute=wide, single=True)
