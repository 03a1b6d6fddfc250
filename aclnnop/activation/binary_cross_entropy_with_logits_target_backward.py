"""aclnnBinaryCrossEntropyWithLogitsTargetBackward: gradient of the cross entropy of logits with respect to ``target``."""

from acl_emu.spec import (
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
from aclnnop.activation.curves import log_sigmoid
from aclnnop.loss.reduction import gradient, pointwise_examples, weighted


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnBinaryCrossEntropyWithLogitsTargetBackward(
    gradOutput: FloatIn,
    self: FloatIn,
    target: FloatIn,
    weightOptional: OptionalFloatIn,
    posWeightOptional: OptionalFloatIn,
    reduction: ReductionMode,
    gradTarget: FloatOut,
) -> Plan:
    """Scale ``gradOutput`` by the slope of the loss as the label grows."""
    same_dtype(target, gradTarget)
    same_shape(self, target, gradTarget)
    broadcasts_to(self.shape, "that of self", weightOptional, posWeightOptional, gradOutput)
    reads = (gradOutput, self, weightOptional, posWeightOptional)
    return gradient(target_slope, reads, gradTarget, reduction)


aclnnBinaryCrossEntropyWithLogitsTargetBackward.example(lambda: pointwise_examples(aclnnBinaryCrossEntropyWithLogitsTargetBackward))


def target_slope(x: Array, weight: Array | None, positive_weight: Array | None) -> Array:
    """The loss of the other label less that of this one; it does not depend on the label itself."""
    return weighted(log_sigmoid(-x) - weighted(log_sigmoid(x), positive_weight), weight)
