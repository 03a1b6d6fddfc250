"""aclnnAdd, aclnnAdds and what they are in place: ``self + alpha × other``."""

from acl_emu.spec import ALL, Plan, Product, operator
from aclnnop.math.arithmetic import ConstNumberRef, NumberIn, NumberOut, NumberScalar, RealRef, RealScalar, combined, pair_examples, plus

PRODUCTS = ALL - {Product.A310B, Product.A310P}


@operator(products=PRODUCTS)
def aclnnAdd(self: NumberIn, other: NumberIn, alpha: NumberScalar, out: NumberOut) -> Plan:
    """Add ``alpha`` times a tensor to a tensor."""
    return combined(plus, self, other, out, alpha)


aclnnAdd.example(lambda: pair_examples(aclnnAdd))


@operator(products=PRODUCTS)
def aclnnInplaceAdd(selfRef: ConstNumberRef, other: NumberIn, alpha: NumberScalar) -> Plan:
    """Add ``alpha`` times a tensor to ``selfRef``."""
    return combined(plus, selfRef, other, selfRef, alpha)


aclnnInplaceAdd.example(lambda: pair_examples(aclnnInplaceAdd))


@operator(products=ALL - {Product.A310B})
def aclnnAdds(self: NumberIn, other: NumberScalar, alpha: NumberScalar, out: NumberOut) -> Plan:
    """Add ``alpha`` times a number to a tensor."""
    return combined(plus, self, other, out, alpha)


aclnnAdds.example(lambda: pair_examples(aclnnAdds))


@operator(products=PRODUCTS)
def aclnnInplaceAdds(selfRef: RealRef, other: RealScalar, alpha: RealScalar) -> Plan:
    """Add ``alpha`` times a number to ``selfRef``."""
    return combined(plus, selfRef, other, selfRef, alpha)


aclnnInplaceAdds.example(lambda: pair_examples(aclnnInplaceAdds))
