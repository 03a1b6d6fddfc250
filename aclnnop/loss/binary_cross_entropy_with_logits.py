"""aclnnBinaryCrossEntropyWithLogits: cross entropy of the logistic function of ``self`` and a label."""

from acl_emu.spec import (
    ALL,
    Array,
    FloatIn,
    FloatOut,
    OptionalFloatIn,
    Plan,
    Product,
    ReductionMode,
    broadcasts_to,
    operator,
    same_dtype,
    same_shape,
)
from aclnnop.loss.logistic import softplus
from aclnnop.loss.reduction import loss, pointwise_examples, weighted


@operator(products=ALL - {Product.A310B})
def aclnnBinaryCrossEntropyWithLogits(
    self: FloatIn,
    target: FloatIn,
    weightOptional: OptionalFloatIn,
    posWeightOptional: OptionalFloatIn,
    reduction: ReductionMode,
    out: FloatOut,
) -> Plan:
    """Weigh the logarithms of both answers' probabilities by ``target``."""
    same_dtype(self, target, weightOptional, posWeightOptional, out)
    same_shape(self, target)
    broadcasts_to(target.shape, "that of target", weightOptional, posWeightOptional)
    return loss(cross_entropy, (self, target, weightOptional, posWeightOptional), out, reduction)


aclnnBinaryCrossEntropyWithLogits.example(lambda: pointwise_examples(aclnnBinaryCrossEntropyWithLogits, reduced=(1,)))


def cross_entropy(x: Array, target: Array, weight: Array | None, positive_weight: Array | None) -> Array:
    """The formula, with -log(sigmoid(x)) as softplus(-x) and -log(1 - sigmoid(x)) as softplus(x)."""
    return weighted(weighted(target * softplus(-x), positive_weight) + (1 - target) * softplus(x), weight)
