"""aclnnRsub and aclnnRsubs: ``other - alpha × self``."""

from typing import Annotated, Any

from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, HandleKind, In, Operand, Out, Plan, operator
from aclnnop.math.arithmetic import combined, pair_examples
from aclnnop.math.binary import INTEGERS, NOT_310, NOT_310B
from aclnnop.math.unary import COMPLEX, REALS

TYPES = (*REALS, *INTEGERS, *COMPLEX)
NumberIn = Annotated[Operand, In(*TYPES)]
NumberOut = Annotated[Operand, Out(*TYPES)]
NumberScalar = Annotated[Scalar, HandleKind(Scalar, *TYPES)]


@operator(products=NOT_310)
def aclnnRsub(self: NumberIn, other: NumberIn, alpha: NumberScalar, out: NumberOut) -> Plan:
    """Take ``alpha`` times a tensor away from another one."""
    return combined(minus_first, self, other, out, alpha)


aclnnRsub.example(lambda: pair_examples(aclnnRsub))


@operator(products=NOT_310B)
def aclnnRsubs(self: NumberIn, other: NumberScalar, alpha: NumberScalar, out: NumberOut) -> Plan:
    """Take ``alpha`` times a tensor away from a number."""
    return combined(minus_first, self, other, out, alpha)


aclnnRsubs.example(lambda: pair_examples(aclnnRsubs))


def minus_first(x: Array, y: Any, alpha: Any) -> Array:
    """The formula."""
    rest: Array = y - alpha * x
    return rest
