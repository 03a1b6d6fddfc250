"""aclnnAddcdiv and aclnnInplaceAddcdiv: ``self + value × tensor1 / tensor2``."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT64
from acl_emu.spec import ALL, Array, In, Operand, Out, Plan, Product, ScalarIn, in_place, operator, promote
from aclnnop.math.scaled_term import plus_scaled, term_examples

TYPES = (BF16, FLOAT16, FLOAT, DOUBLE, INT64)


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnAddcdiv(
    self: Annotated[Operand, In(*TYPES)],
    tensor1: Annotated[Operand, In(*TYPES)],
    tensor2: Annotated[Operand, In(*TYPES)],
    value: ScalarIn,
    out: Annotated[Operand, Out(*TYPES, const=True)],
) -> Plan:
    """Add ``value`` times the quotient of two tensors to a tensor."""
    inputs = self, tensor1, tensor2
    return plus_scaled(integer_quotient if promote(*inputs) is INT64 else quotient, TYPES, inputs, value, out)


aclnnAddcdiv.example(term_examples)
aclnnInplaceAddcdiv = in_place(aclnnAddcdiv, const=True)


def quotient(x: Array, y: Array) -> Array:
    """Of every pair of elements."""
    found: Array = x / y
    return found


def integer_quotient(x: Array, y: Array) -> Array:
    """Towards zero, as C divides; what is divided by zero gives 0."""
    by = np.where(y == 0, 1, y)
    floor = x // by
    truncated = floor + ((floor < 0) & (floor * by != x))
    return np.where(y == 0, 0, truncated)
