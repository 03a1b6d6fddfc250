"""The functions that activations are made of, and their slopes: exponentials never overflow, and small differences keep their digits."""

import math
from typing import Any

import numpy as np

from acl_emu.engine.numeric import erfc
from acl_emu.spec import Array


def logistic(x: Array) -> Any:
    """1 / (1 + exp(-x))."""
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1) / (1 + small)


def swish(x: Array, beta: float = 1.0) -> Any:
    """``x`` times the logistic function of ``beta * x``."""
    return x * logistic(beta * x)


def swish_slope(x: Array, beta: float = 1.0) -> Any:
    """The derivative of ``swish``."""
    return logistic(beta * x) * (1 + beta * x * logistic(-beta * x))


def gelu(x: Array) -> Any:
    """``x`` times the normal distribution function."""
    return x * (0.5 * erfc(x * -math.sqrt(0.5)))


def gelu_slope(x: Array) -> Any:
    """The derivative of ``gelu``."""
    return 0.5 * erfc(x * -math.sqrt(0.5)) + x * (np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))


CUBIC = 0.044715
FACTOR = 2 * math.sqrt(2 / math.pi)


def tanh_gelu(x: Array) -> Any:
    """``gelu`` by a hyperbolic tangent: half of ``1 + tanh(y)`` is the logistic function of ``2 * y``."""
    return x * logistic(FACTOR * x * (1 + CUBIC * x * x))


def tanh_gelu_slope(x: Array) -> Any:
    """The derivative of ``tanh_gelu``."""
    y = FACTOR * x * (1 + CUBIC * x * x)
    share = logistic(y)
    return share + x * share * logistic(-y) * (FACTOR * (1 + 3 * CUBIC * x * x))


GELU = {False: gelu, True: tanh_gelu}
"""By whether the hyperbolic tangent stands for the error function."""
GELU_SLOPE = {False: gelu_slope, True: tanh_gelu_slope}


def mish(x: Array) -> Any:
    """``x * tanh(log(1 + exp(x)))``; the hyperbolic tangent is a fraction of exponentials."""
    small = np.exp(-np.abs(x))
    tangent = np.where(x < 0, small * (small + 2) / (small * (small + 2) + 2), (1 + 2 * small) / (1 + 2 * small * (1 + small)))
    return x * tangent


def mish_slope(x: Array) -> Any:
    """The derivative of ``mish``."""
    small = np.exp(-np.abs(x))
    below, above = small * (small + 2) + 2, 1 + 2 * small * (1 + small)
    tangent = np.where(x < 0, small * (small + 2) / below, (1 + 2 * small) / above)
    rest = np.where(x < 0, small * (1 + small) / (below * below), small * small * (1 + small) / (above * above))
    return tangent + 4 * x * rest


SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717


def log_sigmoid(x: Array) -> Array:
    """Without overflow on either side; what is too small for a number is still negative."""
    logarithms: Array = -(np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0))
    return logarithms
