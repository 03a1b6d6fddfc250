"""aclnnLogitGrad: gradient of the log-odds."""

import math
from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Array, ConstFloatOut, Double, Example, FloatIn, Plan, Product, mapped, numbers, operator, same_dtype, same_shape


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnLogitGrad(x: FloatIn, dy: FloatIn, eps: Double, out: ConstFloatOut) -> Plan:
    """Divide ``dy`` by the variance of ``x``, where ``x`` is between ``eps`` and ``1 - eps``."""
    same_dtype(x, dy, out)
    same_shape(x, dy, out)
    return mapped(odds_gradient, reads=(x, dy), writes=(out,), dtype=x.dtype, eps=eps)


@aclnnLogitGrad.example
def examples() -> Iterator[Example]:
    """Probabilities, both ends among them, as they are and clipped."""
    for dtype, eps in ((FLOAT, -1.0), (BF16, 0.1)):
        x = np.linspace(0, 1, 35).astype(dtype.numpy).reshape(5, 7)
        yield {"x": x, "dy": x, "eps": eps, "out": numbers((5, 7), dtype)}


def odds_gradient(x: Array, dy: Array, *, eps: float) -> Array:
    """Nothing beyond the limits, unless there are none: then what is no probability has no gradient."""
    if math.isnan(eps):
        return np.full(x.shape, math.nan)
    least, beyond = (eps, 0.0) if eps >= 0 else (0.0, math.nan)
    return np.where((x < least) | (x > 1 - least), beyond, dy / (x * (1 - x)))
