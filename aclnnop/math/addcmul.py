"""aclnnAddcmul and aclnnInplaceAddcmul: ``self + value × tensor1 × tensor2``."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from acl_emu.spec import ALL, Array, In, Operand, Out, Plan, Product, ScalarIn, in_place, operator
from aclnnop.math.scaled_term import plus_scaled, term_examples

TYPES = (FLOAT, FLOAT16, DOUBLE, BF16, INT32, INT64, INT8, UINT8)


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnAddcmul(
    self: Annotated[Operand, In(*TYPES)],
    tensor1: Annotated[Operand, In(*TYPES)],
    tensor2: Annotated[Operand, In(*TYPES)],
    value: ScalarIn,
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Add ``value`` times the product of two tensors to a tensor."""
    return plus_scaled(product, TYPES, (self, tensor1, tensor2), value, out)


aclnnAddcmul.example(term_examples)
aclnnInplaceAddcmul = in_place(aclnnAddcmul, const=True)


def product(x: Array, y: Array) -> Array:
    """Of every pair of elements."""
    found: Array = x * y
    return found
