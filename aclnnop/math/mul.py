"""aclnnMul, aclnnMuls and what they are in place: ``self × other``."""

import operator as python_operator

from acl_emu.spec import ALL, Plan, Product, operator
from aclnnop.math.arithmetic import NumberIn, NumberOut, NumberRef, NumberScalar, combined

PRODUCTS = ALL - {Product.A310B}
times = python_operator.mul


@operator(products=PRODUCTS)
def aclnnMul(self: NumberIn, other: NumberIn, out: NumberOut) -> Plan:
    """Multiply two tensors."""
    return combined(times, self, other, out)


@operator(products=PRODUCTS)
def aclnnInplaceMul(selfRef: NumberRef, other: NumberIn) -> Plan:
    """Multiply ``selfRef`` by a tensor."""
    return combined(times, selfRef, other, selfRef)


@operator(products=PRODUCTS)
def aclnnMuls(self: NumberIn, other: NumberScalar, out: NumberOut) -> Plan:
    """Multiply a tensor by a number."""
    return combined(times, self, other, out)


@operator(products=PRODUCTS)
def aclnnInplaceMuls(selfRef: NumberRef, other: NumberScalar) -> Plan:
    """Multiply ``selfRef`` by a number."""
    return combined(times, selfRef, other, selfRef)
