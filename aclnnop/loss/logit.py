"""aclnnLogit: log-odds of a probability."""

import numpy as np

from acl_emu.spec import Array, ConstFloatOut, Double, FloatIn, Plan, Product, mapped, operator, same_dtype, same_shape


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnLogit(input: FloatIn, eps: Double, out: ConstFloatOut) -> Plan:
    """Keep ``input`` between ``eps`` and ``1 - eps``, and take the logarithm of its odds."""
    same_dtype(input, out)
    same_shape(input, out)
    exact = eps < 0 or (eps <= 1 and all(float(np.float32(limit)) == limit for limit in (eps, 1 - eps)))  # else the odds would be others
    return mapped(log_odds, reads=(input,), writes=(out,), via=input.dtype, compute=np.float64, single=exact, eps=eps)


def log_odds(x: Array, *, eps: float) -> Array:
    """The cases in the order of the formula: above one half, ``eps`` is larger than ``1 - eps``."""
    kept = np.where(x < eps, eps, np.where(x > 1 - eps, 1 - eps, x)) if eps >= 0 else x
    odds: Array = np.log(kept / (1 - kept))
    return odds
