"""Functions that numpy lacks, in double precision."""

import math
from typing import Any

import numpy as np

from acl_emu.engine.numeric import erf, erfc
from acl_emu.spec import Array

_WINITZKI = 0.147


def erfinv(y: Array) -> Any:
    """What the error function is ``y`` of: an estimate within a few thousandths (Winitzki's), then three steps of Halley's method."""
    near = np.abs(y)
    logarithm = np.log1p(-near) + np.log1p(near)
    middle = 2 / (np.pi * _WINITZKI) + logarithm / 2
    x = np.sqrt(np.sqrt(middle * middle - logarithm / _WINITZKI) - middle)
    for _ in range(3):
        # Near one, the difference of complements keeps the digits that the difference itself loses.
        error = np.where(near < 0.5, erf(x) - near, (1 - near) - erfc(x))
        x = np.where(near < 1, x - error / (2 / np.sqrt(np.pi) * np.exp(-x * x) + x * error), x)
    return np.copysign(np.where(near == 1, np.inf, x), y)


_LARGE = 10
"""From here on the asymptotic series is good to the last digit."""
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


def digamma(x: Array) -> Any:
    """The logarithmic derivative of the gamma function: moved up to where its series is good, and mirrored from below zero."""
    x = x.astype(np.float64)
    mirrored = x <= 0
    y = np.where(mirrored, 1 - x, x)
    moved = np.zeros_like(y)
    for _ in range(_LARGE):
        small = y < _LARGE
        moved = np.where(small, moved + 1 / y, moved)
        y = np.where(small, y + 1, y)
    inverse = 1 / (y * y)
    series = np.zeros_like(y)
    for coefficient in reversed(_SERIES):
        series = (series + coefficient) * inverse
    result = np.log(y) - 0.5 / y - series - moved
    rest = x - np.rint(x)
    poles = np.where(x == 0, np.copysign(np.inf, -x), np.where(rest == 0, np.nan, result - np.pi / np.tan(np.pi * rest)))
    return np.where(mirrored, poles, result)


def _finite_lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # zero and the negative integers, and what is too large
        return math.inf


_lgamma = np.frompyfunc(_finite_lgamma, 1, 1)


def lgamma(x: Array) -> Any:
    """The logarithm of the magnitude of the gamma function."""
    return np.asarray(_lgamma(x), np.float64)
