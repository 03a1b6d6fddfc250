"""aclnnMul, aclnnMuls and what they are in place: ``self × other``."""

from typing import Any

from acl_emu.spec import ALL, Array, Plan, Product, operator
from aclnnop.math.arithmetic import NumberIn, NumberOut, NumberRef, NumberScalar, combined, pair_examples

PRODUCTS = ALL - {Product.A310B}


@operator(products=PRODUCTS)
def aclnnMul(self: NumberIn, other: NumberIn, out: NumberOut) -> Plan:
    """Multiply two tensors."""
    return combined(times, self, other, out)


aclnnMul.example(lambda: pair_examples(aclnnMul))


@operator(products=PRODUCTS)
def aclnnInplaceMul(selfRef: NumberRef, other: NumberIn) -> Plan:
    """Multiply ``selfRef`` by a tensor."""
    return combined(times, selfRef, other, selfRef)


aclnnInplaceMul.example(lambda: pair_examples(aclnnInplaceMul))


@operator(products=PRODUCTS)
def aclnnMuls(self: NumberIn, other: NumberScalar, out: NumberOut) -> Plan:
    """Multiply a tensor by a number."""
    return combined(times, self, other, out)


aclnnMuls.example(lambda: pair_examples(aclnnMuls))


@operator(products=PRODUCTS)
def aclnnInplaceMuls(selfRef: NumberRef, other: NumberScalar) -> Plan:
    """Multiply ``selfRef`` by a number."""
    return combined(times, selfRef, other, selfRef)


aclnnInplaceMuls.example(lambda: pair_examples(aclnnInplaceMuls))


def times(x: Array, y: Any) -> Array:
    """The formula."""
    product: Array = x * y
    return product
