"""The logistic function and its integral, without overflow on the way."""

import numpy as np

from acl_emu.spec import Array


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)); where exp overflows the result is 0, as it should be."""
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    return np.logaddexp(0, x)
