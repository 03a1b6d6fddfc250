"""aclnnBinaryCrossEntropyWithLogitsBackward: gradient of the cross entropy of logits with respect to ``self``."""

from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.formats import ANY_FORMAT
from acl_emu.spec import (
    ALL,
    Array,
    In,
    Operand,
    Out,
    Plan,
    Product,
    ReductionMode,
    broadcasts_to,
    operator,
    same_dtype,
    same_format,
    same_shape,
)
from aclnnop.loss.logistic import odds
from aclnnop.loss.reduction import gradient, pointwise_examples, weighted

FLOATS = (FLOAT, FLOAT16, BF16)
MIXED = (FLOAT, FLOAT16)
AnyIn = Annotated[Operand, In(*FLOATS, formats=ANY_FORMAT)]
OptionalAnyIn = Annotated[Operand | None, In(*FLOATS, formats=ANY_FORMAT, optional=True)]
AnyOut = Annotated[Operand, Out(*FLOATS, formats=ANY_FORMAT)]


@operator(products=ALL - {Product.A310B})
def aclnnBinaryCrossEntropyWithLogitsBackward(
    gradOutput: AnyIn,
    self: AnyIn,
    target: AnyIn,
    weightOptional: OptionalAnyIn,
    posWeightOptional: OptionalAnyIn,
    reduction: ReductionMode,
    out: AnyOut,
) -> Plan:
    """Scale ``gradOutput`` by the distance of the probability to the label."""
    same_format(self, gradOutput, target, weightOptional, posWeightOptional, out)
    same_dtype(self, target, out)
    for weight in filter(None, (weightOptional, posWeightOptional)):
        if self.dtype not in MIXED or weight.dtype not in MIXED:
            same_dtype(self, weight)
    same_shape(self, target, out)
    broadcasts_to(self.shape, "that of self", weightOptional, posWeightOptional, gradOutput)
    return gradient(logits_slope, (gradOutput, self, target, weightOptional, posWeightOptional), out, reduction)


aclnnBinaryCrossEntropyWithLogitsBackward.example(lambda: pointwise_examples(aclnnBinaryCrossEntropyWithLogitsBackward))


def logits_slope(x: Array, target: Array, weight: Array | None, positive_weight: Array | None) -> Array:
    """The derivative of the loss."""
    up, down, whole = odds(x)
    return weighted(((1 - target) * up - weighted(target * down, positive_weight)) / whole, weight)
