"""aclnnSituGlu: one half of a tensor, gated by a bounded sigmoid-tanh unit of the other."""

import numpy as np

from acl_emu.spec import Array, Bool, Double, Int, Plan, operator, same_dtype
from aclnnop.activation.curves import logistic
from aclnnop.activation.gated import examples, gated, result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.activation.swi_glu import Values, ValuesOut

SETTINGS = (
    {"dim": -1, "beta": 1.5, "linearBeta": 0.0, "activateLeft": True},
    {"dim": 1, "beta": 2.0, "linearBeta": 3.0, "activateLeft": False},
)


@operator(products=NEWER)
def aclnnSituGlu(x: Values, dim: Int, beta: Double, linearBeta: Double, activateLeft: Bool, out: ValuesOut) -> Plan:
    """Multiply ``beta * tanh(gate / beta)`` times its logistic function with the other half, which ``linearBeta`` may bound too."""
    axis = split_axis(x, dim)
    result_fits(x, axis, out)
    same_dtype(x, out)

    def kernel(gate: Array, linear: Array) -> Array:
        return situ(gate, linear, beta, linearBeta)

    return gated(kernel, x, axis, (out,), left=activateLeft)


aclnnSituGlu.example(lambda: examples(aclnnSituGlu, *SETTINGS))


def situ(gate: Array, linear: Array, beta: float, linear_beta: float) -> Array:
    """The formula."""
    product: Array = beta * np.tanh(gate / beta) * logistic(gate) * bounded(linear, linear_beta)
    return product


def bounded(linear: Array, bound: float) -> Array:
    """Between ``-bound`` and ``bound``; as it is without a positive one."""
    return bound * np.tanh(linear / bound) if bound > 0 else linear
