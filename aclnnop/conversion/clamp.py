"""aclnnClamp, its forms with one limit and with tensors, and what they are in place: elements that are kept between limits."""

from typing import Annotated

from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import AFTER_NULL, NULL, HandleKind, In, Operand, Out, Plan, in_place, operator
from aclnnop.conversion.limits import LIMITS, TYPES, limit_examples, limited, some_limit
from aclnnop.math.binary import NOT_310, NOT_310B

NumberIn = Annotated[Operand, In(*TYPES)]
NumberOut = Annotated[Operand, Out(*TYPES)]
LimitScalar = Annotated[Scalar, HandleKind(Scalar, *LIMITS)]
OptionalLimitScalar = Annotated[Scalar | None, HandleKind(Scalar, *LIMITS, optional=True)]
LimitIn = Annotated[Operand, In(*LIMITS)]
OptionalLimitIn = Annotated[Operand | None, In(*LIMITS, optional=True)]
CHECKS = (NULL, some_limit, *AFTER_NULL)


@operator(products=NOT_310B, checks=CHECKS)
def aclnnClamp(self: NumberIn, clipValueMin: OptionalLimitScalar, clipValueMax: OptionalLimitScalar, out: NumberOut) -> Plan:
    """Keep every element between two numbers, one of which may be missing."""
    return limited(self, clipValueMin, clipValueMax, out)


@operator(products=NOT_310B, checks=CHECKS)
def aclnnClampTensor(self: NumberIn, clipValueMin: OptionalLimitIn, clipValueMax: OptionalLimitIn, out: NumberOut) -> Plan:
    """Keep every element between two others, one of which may be missing."""
    return limited(self, clipValueMin, clipValueMax, out)


@operator(products=NOT_310B)
def aclnnClampMin(self: NumberIn, clipValueMin: LimitScalar, out: NumberOut) -> Plan:
    """Raise every element to a number at least."""
    return limited(self, clipValueMin, None, out)


@operator(products=NOT_310B)
def aclnnClampMax(self: NumberIn, clipValueMax: LimitScalar, out: NumberOut) -> Plan:
    """Lower every element to a number at most."""
    return limited(self, None, clipValueMax, out)


@operator(products=NOT_310)
def aclnnClampMinTensor(self: NumberIn, clipValueMin: LimitIn, out: NumberOut) -> Plan:
    """Raise every element to the other one at least."""
    return limited(self, clipValueMin, None, out)


@operator(products=NOT_310B)
def aclnnClampMaxTensor(self: NumberIn, max: LimitIn, out: NumberOut) -> Plan:
    """Lower every element to the other one at most."""
    return limited(self, None, max, out)


for clamp in (aclnnClamp, aclnnClampTensor, aclnnClampMin, aclnnClampMax, aclnnClampMinTensor, aclnnClampMaxTensor):
    clamp.example(lambda clamp=clamp: limit_examples(clamp))

aclnnInplaceClampMax = in_place(aclnnClampMax, const=True)
aclnnInplaceClampMinTensor = in_place(aclnnClampMinTensor)
aclnnInplaceClampMaxTensor = in_place(aclnnClampMaxTensor)
