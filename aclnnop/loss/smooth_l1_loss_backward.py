"""aclnnSmoothL1LossBackward: gradient of the smooth L1 loss with respect to ``self``."""

import numpy as np

from acl_emu.spec import ALL, Array, Float, FloatIn, FloatOut, Plan, Product, ReductionMode, operator
from aclnnop.loss.distance import require_beta
from aclnnop.loss.reduction import gradient


@operator(products=ALL - {Product.A310B})
def aclnnSmoothL1LossBackward(
    gradOut: FloatIn,
    self: FloatIn,
    target: FloatIn,
    reduction: ReductionMode,
    beta: Float,
    gradInput: FloatOut,
) -> Plan:
    """Scale ``gradOut`` by the slope of the loss at ``self - target``."""
    require_beta(beta)
    return gradient(slope_within, (gradOut, self, target), gradInput, reduction, beta=beta)


def slope_within(x: Array, y: Array, *, beta: float) -> Array:
    """Slope 1 / beta within ``beta`` of zero, ±1 outside; ``beta == 0`` is the plain L1 loss."""
    difference = x - y
    return np.where(np.abs(difference) < beta, difference / beta, np.sign(difference))
