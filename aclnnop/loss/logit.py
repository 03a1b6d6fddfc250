"""aclnnLogit: log-odds of a probability."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Array, ConstFloatOut, Double, Example, FloatIn, Plan, Product, mapped, numbers, operator, same_dtype, same_shape


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnLogit(input: FloatIn, eps: Double, out: ConstFloatOut) -> Plan:
    """Keep ``input`` between ``eps`` and ``1 - eps``, and take the logarithm of its odds."""
    same_dtype(input, out)
    same_shape(input, out)
    return mapped(log_odds, reads=(input,), writes=(out,), dtype=input.dtype, eps=eps)


@aclnnLogit.example
def examples() -> Iterator[Example]:
    """Probabilities, both ends among them, as they are and clipped."""
    for dtype, eps in ((FLOAT, -1.0), (BF16, 0.1)):
        yield {"input": np.linspace(0, 1, 35).astype(dtype.numpy).reshape(5, 7), "eps": eps, "out": numbers((5, 7), dtype)}


def log_odds(x: Array, *, eps: float) -> Array:
    """The cases in the order of the formula: above one half, ``eps`` is larger than ``1 - eps``."""
    kept = np.where(x < eps, eps, np.where(x > 1 - eps, 1 - eps, x)) if eps >= 0 else x
    rest = 1 - kept
    # Near one half the odds are near 1, and would lose what their logarithm is made of.
    odds: Array = np.where(np.abs(kept - 0.5) < 0.25, np.log1p((2 * kept - 1) / rest), np.log(kept / rest))
    return odds
