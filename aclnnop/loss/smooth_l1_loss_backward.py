"""aclnnSmoothL1LossBackward: gradient of the smooth L1 loss with respect to ``self``."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Array, Example, Float, FloatIn, FloatOut, Plan, Product, ReductionMode, numbers, operator
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


@aclnnSmoothL1LossBackward.example
def examples() -> Iterator[Example]:
    """Inputs that broadcast, of one type and of several."""
    for first, second, out in ((FLOAT, FLOAT, FLOAT), (FLOAT16, BF16, FLOAT), (BF16, BF16, FLOAT16)):
        yield {
            "gradOut": numbers((4, 1), first, 1),
            "self": numbers((3, 4, 5), second, 2),
            "target": numbers((5,), second, 3),
            "reduction": 1,
            "beta": 0.7,
            "gradInput": numbers((3, 4, 5), out, 4),
        }


def slope_within(x: Array, y: Array, *, beta: float) -> Array:
    """Slope 1 / beta within ``beta`` of zero, ±1 outside; ``beta == 0`` is the plain L1 loss."""
    difference = x - y
    return np.where(np.abs(difference) < beta, difference / beta, np.sign(difference))
