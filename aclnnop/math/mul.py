"""aclnnMul, aclnnMuls and what they are in place: ``self × other``."""

from typing import Any

from acl_emu.engine.marks import LANES, ROW, whole
from acl_emu.spec import ALL, Array, Plan, Product, operator
from aclnnop.math.arithmetic import NumberIn, NumberOut, NumberRef, NumberScalar, combined

PRODUCTS = ALL - {Product.A310B}


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


@whole(LANES, ROW)
@whole(ROW, LANES)
def times(x: Array, y: Any) -> Array:
    """The formula."""
    product: Array = x * y
    return product
