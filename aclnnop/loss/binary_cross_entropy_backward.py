"""aclnnBinaryCrossEntropyBackward: gradient of the binary cross entropy with respect to ``self``."""

import numpy as np

from acl_emu.spec import ALL, Array, FloatIn, FloatOut, OptionalFloatIn, Plan, Product, ReductionMode, broadcasts_to, operator
from aclnnop.loss.reduction import gradient, pointwise_examples, weighted

SMALLEST_VARIANCE = 1e-12
"""What self * (1 - self) counts as at least, so that the gradient stays finite."""


@operator(products=ALL - {Product.A310B})
def aclnnBinaryCrossEntropyBackward(
    gradOutput: FloatIn, self: FloatIn, target: FloatIn, weightOptional: OptionalFloatIn, reduction: ReductionMode, out: FloatOut
) -> Plan:
    """Scale ``gradOutput`` by the distance to the label, over the variance of ``self``."""
    broadcasts_to(self.shape, "that of self", gradOutput, target, weightOptional)
    return gradient(cross_entropy_slope, (gradOutput, self, target, weightOptional), out, reduction)


aclnnBinaryCrossEntropyBackward.example(lambda: pointwise_examples(aclnnBinaryCrossEntropyBackward, probabilities=("self", "target")))


def cross_entropy_slope(x: Array, target: Array, weight: Array | None) -> Array:
    """The formula."""
    return weighted((x - target) / np.maximum(x * (1 - x), SMALLEST_VARIANCE), weight)
