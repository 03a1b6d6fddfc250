"""aclnnL1LossBackward: gradient of the L1 loss with respect to ``self``."""

import numpy as np

from acl_emu.spec import ALL, Array, FloatIn, FloatOut, Plan, Product, ReductionMode, operator
from aclnnop.loss.reduction import gradient, pointwise_examples


@operator(products=ALL - {Product.A310B})
def aclnnL1LossBackward(gradOutput: FloatIn, self: FloatIn, target: FloatIn, reduction: ReductionMode, gradInput: FloatOut) -> Plan:
    """Give ``gradOutput`` the sign of ``self - target``."""
    return gradient(side, (gradOutput, self, target), gradInput, reduction)


aclnnL1LossBackward.example(lambda: pointwise_examples(aclnnL1LossBackward))


def side(x: Array, y: Array) -> Array:
    """On which side of ``y`` is ``x``: -1, 0 or 1."""
    sides: Array = np.sign(x - y)
    return sides
