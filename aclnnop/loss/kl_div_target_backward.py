"""aclnnKlDivTargetBackward: gradient of the Kullback-Leibler divergence with respect to ``target``."""

import numpy as np

from acl_emu.spec import Array, Bool, FloatIn, FloatOut, Plan, Product, operator
from aclnnop.loss.divergence import DivergenceMode, divergence_examples, divergence_gradient


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnKlDivTargetBackward(
    gradOutput: FloatIn, self: FloatIn, target: FloatIn, reduction: DivergenceMode, logTarget: Bool, gradTarget: FloatOut
) -> Plan:
    """Scale ``gradOutput`` by the distance of the logarithms, plus one."""
    return divergence_gradient(log_ratio, gradOutput, self, target, reduction, logTarget, of=target, out=gradTarget)


aclnnKlDivTargetBackward.example(lambda: divergence_examples("gradTarget"))


def log_ratio(x: Array, target: Array, log_target: bool) -> Array:
    """The formula."""
    return np.exp(target) * (target - x + 1) if log_target else np.log(target) - x + 1
