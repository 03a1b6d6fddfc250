"""aclnnSoftMarginLossBackward: gradient of the soft margin loss with respect to ``self``."""

from acl_emu.spec import ALL, Array, FloatIn, FloatOut, Plan, Product, ReductionMode, operator
from aclnnop.loss.logistic import sigmoid
from aclnnop.loss.reduction import gradient, pointwise_examples


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnSoftMarginLossBackward(gradOutput: FloatIn, self: FloatIn, target: FloatIn, reduction: ReductionMode, out: FloatOut) -> Plan:
    """Scale ``gradOutput`` by the slope of the logistic loss."""
    return gradient(soft_margin_slope, (gradOutput, self, target), out, reduction)


aclnnSoftMarginLossBackward.example(lambda: pointwise_examples(aclnnSoftMarginLossBackward))


def soft_margin_slope(x: Array, label: Array) -> Array:
    """exp(-z) / (1 + exp(-z)) is the logistic function of -z."""
    return -label * sigmoid(-label * x)
