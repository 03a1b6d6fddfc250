"""aclnnSituGluGrad: the gradient of aclnnSituGlu."""

import numpy as np

from acl_emu.spec import Array, Bool, Double, Int, Plan, operator, same_dtype, same_shape
from aclnnop.activation.curves import logistic
from aclnnop.activation.gated import examples, gated_gradient, result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.activation.situ_glu import SETTINGS, bounded
from aclnnop.activation.swi_glu import Values, ValuesOut


@operator(products=NEWER)
def aclnnSituGluGrad(gradY: Values, x: Values, dim: Int, beta: Double, linearBeta: Double, activateLeft: Bool, out: ValuesOut) -> Plan:
    """Give both halves along ``dim`` their gradients."""
    axis = split_axis(x, dim)
    result_fits(x, axis, gradY)
    same_dtype(x, gradY, out)
    same_shape(x, out)

    def kernel(grad: Array, gate: Array, linear: Array) -> tuple[Array, Array]:
        tangent, share = np.tanh(gate / beta), logistic(gate)
        slope = share * (tanh_slope(gate / beta) + beta * tangent * logistic(-gate))
        line = grad * beta * tangent * share
        return grad * bounded(linear, linearBeta) * slope, line * tanh_slope(linear / linearBeta) if linearBeta > 0 else line

    return gated_gradient(kernel, gradY, x, axis, out, left=activateLeft)


aclnnSituGluGrad.example(lambda: examples(aclnnSituGluGrad, *SETTINGS))


def tanh_slope(x: Array) -> Array:
    """One less the square of the hyperbolic tangent: what is left near its ends is a product, not a difference."""
    slope: Array = 4 * logistic(2 * x) * logistic(-2 * x)
    return slope
