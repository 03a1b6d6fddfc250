"""aclnnSmoothL1LossBackward: gradient of the smooth L1 loss with respect to ``self``."""

import math

import numpy as np

from acl_emu.spec import (
    ALL,
    Array,
    Float,
    FloatIn,
    FloatOut,
    Plan,
    Product,
    Reduction,
    ReductionMode,
    broadcast_shape,
    mapped,
    operator,
    promote,
    require,
    shape_is,
)


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
    require(beta >= 0, f"beta is {beta}, expected a value of at least 0")
    dtype = promote(gradOut, self, target)
    shape = broadcast_shape(gradOut, self, target)
    shape_is(gradInput, shape, "the inputs' broadcast shape")
    count = math.prod(shape) if reduction == Reduction.MEAN else 1
    return mapped(gradient, reads=(gradOut, self, target), writes=(gradInput,), via=dtype, beta=beta, count=count)


def gradient(grad: Array, x: Array, y: Array, *, beta: float, count: int) -> Array:
    """Slope 1 / beta within ``beta`` of zero, ±1 outside; ``beta == 0`` is the plain L1 loss."""
    difference = x - y
    slope = np.where(np.abs(difference) < beta, difference / beta, np.sign(difference))
    return grad * slope / count
