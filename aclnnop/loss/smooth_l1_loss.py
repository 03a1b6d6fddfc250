"""aclnnSmoothL1Loss: a parabola within ``beta`` of the target, the absolute difference outside."""

import numpy as np

from acl_emu.spec import ALL, Array, Float, FloatIn, FloatOut, Plan, Product, ReductionMode, operator
from aclnnop.loss.distance import require_beta
from aclnnop.loss.reduction import loss, pointwise_examples


@operator(products=ALL - {Product.A310B})
def aclnnSmoothL1Loss(self: FloatIn, target: FloatIn, reduction: ReductionMode, beta: Float, result: FloatOut) -> Plan:
    """Measure ``self - target``, small differences by their square."""
    require_beta(beta)
    return loss(smooth_distance, (self, target), result, reduction, beta=beta)


aclnnSmoothL1Loss.example(lambda: pointwise_examples(aclnnSmoothL1Loss, reduced=(1,), beta=1.0))


def smooth_distance(x: Array, y: Array, *, beta: float) -> Array:
    """The formula; the square is not formed, since it may overflow."""
    distance = np.abs(x - y)
    loss: Array = np.where(distance < beta, 0.5 * distance * (distance / beta), distance - 0.5 * beta)
    return loss
