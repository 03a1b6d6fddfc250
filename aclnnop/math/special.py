"""Functions that numpy lacks, in double precision."""

import math
from typing import Any

import numpy as np

from acl_emu.spec import Array

_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def erf(x: Array) -> Any:
    """The error function."""
    return np.asarray(_erf(x), np.float64)


def erfc(x: Array) -> Any:
    """One less the error function, accurate where that is small."""
    return np.asarray(_erfc(x), np.float64)


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
