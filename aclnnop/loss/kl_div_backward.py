"""aclnnKlDivBackward: gradient of the Kullback-Leibler divergence with respect to ``self``."""

import numpy as np

from acl_emu.spec import Array, Bool, FloatIn, FloatOut, Plan, Product, operator
from aclnnop.loss.divergence import DivergenceMode, divergence_examples, divergence_gradient


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnKlDivBackward(
    gradOutput: FloatIn, self: FloatIn, target: FloatIn, reduction: DivergenceMode, logTarget: Bool, out: FloatOut
) -> Plan:
    """Weigh ``gradOutput`` by the target's probabilities."""
    return divergence_gradient(probability, gradOutput, self, target, reduction, logTarget, of=self, out=out)


aclnnKlDivBackward.example(lambda: divergence_examples("out"))


def probability(x: Array, target: Array, log_target: bool) -> Array:
    """The loss falls with ``self`` as the target is probable; what is not positive is no probability, and has no slope."""
    return -np.exp(target) if log_target else np.where(target <= 0, 0, -target)
