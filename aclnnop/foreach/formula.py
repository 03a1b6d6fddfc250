"""Formulas that the operators over lists share: of one, two or three tensors, the last argument a number where there is one."""

from typing import Any

import numpy as np

from acl_emu.spec import Array


def add(x: Array, y: Any, alpha: Any = 1) -> Any:
    """``x + alpha × y``."""
    return x + alpha * y


def subtract(x: Array, y: Any, alpha: Any = 1) -> Any:
    """``x - alpha × y``."""
    return x - alpha * y


def multiply(x: Array, y: Any) -> Any:
    """``x × y``."""
    return x * y


def divide(x: Array, y: Any) -> Any:
    """``x / y``."""
    return x / y


def larger(x: Array, y: Any) -> Any:
    """The larger one of both; NaN where one is."""
    return np.maximum(x, y)


def smaller(x: Array, y: Any) -> Any:
    """The smaller one of both; NaN where one is."""
    return np.minimum(x, y)


def add_product(x: Array, y: Array, z: Array, factor: Any) -> Any:
    """``x + factor × y × z``."""
    return x + factor * (y * z)


def add_quotient(x: Array, y: Array, z: Array, factor: Any) -> Any:
    """``x + factor × y / z``."""
    return x + factor * (y / z)


def interpolate(x: Array, y: Array, weight: Any) -> Any:
    """From ``x`` for a weight of 0 to ``y`` for one of 1."""
    return x + weight * (y - x)


def power(x: Array, y: Any) -> Any:
    """``x`` to the power of ``y``."""
    return np.power(x, y)


def integer_power(x: Any, y: Any) -> Any:
    """The same of integers: it wraps around; what a negative power leaves below 1 is 0."""
    ends = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0))
    return np.where(np.less(y, 0), ends, np.power(x, np.maximum(y, 0)))


def exponential(x: Array, base: Any) -> Any:
    """``base`` to the power of ``x``."""
    return power(base, x)


def integer_exponential(x: Array, base: Any) -> Any:
    """The same of integers."""
    return integer_power(base, x)


def rounded(x: Array, mode: Any) -> Any:
    """An integer near ``x``: 2 below, 3 above, 4 halves away from zero, 5 towards zero, 6 the odd one; else halves to even."""
    below, near = np.floor(x), np.trunc(x)
    away = np.where(np.abs(x - near) >= 0.5, near + np.where(x < 0, -1, 1), near)
    odd = np.where(x == below, x, below + (1 - np.abs(below - 2 * np.trunc(below / 2))))
    choices = ((2, below), (3, np.ceil(x)), (4, away), (5, near), (6, odd))
    found = np.rint(x)
    for number, choice in choices:
        found = np.where(mode == number, choice, found)
    return found


def unrounded(x: Array, mode: Any) -> Array:
    """Integers as they are."""
    del mode
    return x
