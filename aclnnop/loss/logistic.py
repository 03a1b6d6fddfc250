"""The logistic function and its integral, without overflow on the way."""

import numpy as np

from acl_emu.spec import Array


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    up, _, whole = odds(x)
    return up / whole


def odds(x: Array) -> tuple[Array, Array, Array]:
    """The logistic function of ``x`` and that of ``-x`` as fractions of one whole, from an exponential that is at most 1."""
    small = np.exp(-np.abs(x))
    return np.where(x > 0, 1, small), np.where(x > 0, small, 1), 1 + small


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    return np.logaddexp(0, x)
