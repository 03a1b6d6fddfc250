"""aclnnBinaryCrossEntropyWithLogitsBackward: gradient of the cross entropy of logits with respect to ``self``."""

from typing import Annotated

from acl_emu.core.constants import ACL_FORMAT_ND
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Array, Operand, Out, Plan, Product, ReductionMode, broadcasts_to, operator, same_dtype, same_shape
from aclnnop.loss.logistic import OptionalPlainIn, PlainIn, odds
from aclnnop.loss.reduction import gradient, pointwise_examples, weighted

PlainOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, formats=(ACL_FORMAT_ND,))]


@operator(products=ALL - {Product.A310B})
def aclnnBinaryCrossEntropyWithLogitsBackward(
    gradOutput: PlainIn,
    self: PlainIn,
    target: PlainIn,
    weightOptional: OptionalPlainIn,
    posWeightOptional: OptionalPlainIn,
    reduction: ReductionMode,
    out: PlainOut,
) -> Plan:
    """Scale ``gradOutput`` by the distance of the probability to the label."""
    same_dtype(self, target, weightOptional, posWeightOptional, out)
    same_shape(self, target, out)
    broadcasts_to(self.shape, "that of self", weightOptional, posWeightOptional, gradOutput)
    return gradient(logits_slope, (gradOutput, self, target, weightOptional, posWeightOptional), out, reduction, precise=True, single=True)


aclnnBinaryCrossEntropyWithLogitsBackward.example(lambda: pointwise_examples(aclnnBinaryCrossEntropyWithLogitsBackward))


def logits_slope(x: Array, target: Array, weight: Array | None, positive_weight: Array | None) -> Array:
    """The derivative of the loss."""
    up, down, whole = odds(x)
    return weighted(((1 - target) * up - weighted(target * down, positive_weight)) / whole, weight)
