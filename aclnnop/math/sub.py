"""aclnnSub, aclnnSubs and what they are in place: ``self - alpha × other``."""

from typing import Any

from acl_emu.spec import ALL, Array, Plan, Product, operator
from aclnnop.math.arithmetic import NumberIn, NumberOut, NumberRef, NumberScalar, combined, pair_examples


@operator(products=ALL - {Product.A310P})
def aclnnSub(self: NumberIn, other: NumberIn, alpha: NumberScalar, out: NumberOut) -> Plan:
    """Take ``alpha`` times a tensor away from a tensor."""
    return combined(minus, self, other, out, alpha)


aclnnSub.example(lambda: pair_examples(aclnnSub))


@operator(products=ALL - {Product.A310P})
def aclnnInplaceSub(selfRef: NumberRef, other: NumberIn, alpha: NumberScalar) -> Plan:
    """Take ``alpha`` times a tensor away from ``selfRef``."""
    return combined(minus, selfRef, other, selfRef, alpha)


aclnnInplaceSub.example(lambda: pair_examples(aclnnInplaceSub))


@operator(products=ALL - {Product.A310B})
def aclnnSubs(self: NumberIn, other: NumberScalar, alpha: NumberScalar, out: NumberOut) -> Plan:
    """Take ``alpha`` times a number away from a tensor."""
    return combined(minus, self, other, out, alpha)


aclnnSubs.example(lambda: pair_examples(aclnnSubs))


@operator(products=ALL - {Product.A310B})
def aclnnInplaceSubs(selfRef: NumberRef, other: NumberScalar, alpha: NumberScalar) -> Plan:
    """Take ``alpha`` times a number away from ``selfRef``."""
    return combined(minus, selfRef, other, selfRef, alpha)


aclnnInplaceSubs.example(lambda: pair_examples(aclnnInplaceSubs))


def minus(x: Array, y: Any, alpha: Any) -> Array:
    """The formula."""
    rest: Array = x - alpha * y
    return rest
