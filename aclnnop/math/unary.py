"""What operators that apply one function to every element share: products, types of the result, plan."""

from collections.abc import Callable, Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import Array, Example, Operand, Operator, Plan, Product, castable, mapped, numbers, same_shape

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


def examples_of(operator: Operator) -> Iterator[Example]:
    """Positive numbers; whole ones too where the operator takes them."""
    tensors = [np.abs(numbers((3, 4, 5), dtype, 1, 4)) for dtype in (FLOAT, BF16, DOUBLE)]
    if len(operator.parameters) == 1:
        yield from ({"selfRef": x} for x in tensors)
    else:
        tensors.append(np.arange(60).reshape(3, 4, 5))
        yield from ({"self": x, "out": numbers((3, 4, 5), FLOAT, 2)} for x in tensors)
