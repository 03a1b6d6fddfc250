"""Quotients and remainders of two numbers, element by element."""

from typing import Any

import numpy as np

from acl_emu.spec import Array


def quotient(x: Array, y: Any) -> Any:
    """``x / y``."""
    return x / y


def floored(x: Array, y: Any) -> Any:
    """The quotient, rounded down."""
    return np.floor(x / y)


def integer_floored(x: Array, y: Any) -> Any:
    """The same of integers; a division by zero gives 0."""
    return np.floor_divide(x, y)


def truncated(x: Array, y: Any) -> Any:
    """The quotient, rounded towards zero."""
    return np.trunc(x / y)


def integer_truncated(x: Array, y: Any) -> Any:
    """The same of integers; a division by zero gives 0."""
    return np.floor_divide(x - np.fmod(x, y), y)


def remainder(x: Array, y: Any) -> Any:
    """What a quotient that is rounded down leaves: its sign is that of ``y``."""
    return np.remainder(x, y)


def integer_remainder(x: Array, y: Any) -> Any:
    """The same of integers; zero divides nothing and leaves ``x``."""
    return np.where(y == 0, x, np.remainder(x, y))


def modulus(x: Array, y: Any) -> Any:
    """What a quotient that is rounded towards zero leaves: its sign is that of ``x``."""
    return np.fmod(x, y)


def integer_modulus(x: Array, y: Any) -> Any:
    """The same of integers; zero divides nothing and leaves ``x``."""
    return np.where(y == 0, x, np.fmod(x, y))
