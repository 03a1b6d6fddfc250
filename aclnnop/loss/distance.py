"""Distances that a loss shares with its relatives."""

import numpy as np

from acl_emu.spec import Array, require


def squared_error(x: Array, y: Array) -> Array:
    """The square of the difference."""
    square: Array = np.square(x - y)
    return square


def require_beta(beta: float) -> None:
    """The width of the parabola of the smooth distance."""
    require(beta >= 0, f"beta is {beta}, expected a value of at least 0")
