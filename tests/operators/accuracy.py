"""How close a result must be to one in float64. Nothing here uses the emulator's own rounding."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FLOAT, FLOAT16, BF16 = (np.dtype(t) for t in (np.float32, np.float16, ml_dtypes.bfloat16))
FLOATS = (FLOAT, FLOAT16, BF16)
# Bits of the significand, smallest exponent of a normal number, largest finite number.
_SHAPE = {FLOAT: (24, -126), FLOAT16: (11, -14), BF16: (8, -126)}
_LARGEST = {FLOAT: 2.0**128 - 2.0**104, FLOAT16: 65504.0, BF16: 2.0**128 - 2.0**120}
ULPS = 64
"""Of FLOAT, that an operator may be off: a relative error of 2**-18, of the 2**-13 that the standard allows on average."""
_STANDARD = {FLOAT: 2.0**-13, FLOAT16: 2.0**-10, BF16: 2.0**-7}


def spacing(values: Any, dtype: np.dtype[Any]) -> Array:
    """The distance between neighbours of ``dtype`` at these numbers: one ulp."""
    digits, least = _SHAPE[dtype]
    magnitude = np.abs(np.asarray(values, np.float64))
    _, exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 1.0))
    return np.ldexp(1.0, np.where(magnitude == 0, least, np.maximum(exponent - 1, least)) - digits + 1)


def rounded(values: Any, dtype: np.dtype[Any]) -> Array:
    """float64 numbers as ``dtype`` would hold them, rounded once to nearest even; still in float64."""
    exact = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        step = spacing(exact, dtype)
        nearest = np.where(np.isfinite(exact), np.rint(exact / step) * step, exact)
        return np.where(np.abs(nearest) > _LARGEST[dtype], np.copysign(np.inf, nearest), nearest)


def assert_equal(actual: Array, expected: Any) -> None:
    """The same numbers; NaN equals NaN, and the sign of zero is left open."""
    np.testing.assert_array_equal(np.asarray(actual, np.float64), np.asarray(expected, np.float64))


def assert_accurate(actual: Array, golden: Any, *, via: np.dtype[Any] | None = None, largest: Any = None, ulps: float = ULPS) -> None:
    """An element-wise or row-wise result is as accurate as promised: computed in FLOAT, rounded once.

    ``ulps`` are those of FLOAT, at the ``largest`` term of each sum (by default at the result itself). Half an ulp comes on top for
    each narrower type that the result is rounded to: ``via``, which the operator promotes to, and that of the result.
    """
    golden = np.asarray(golden, np.float64)
    assert actual.shape == golden.shape
    as_float64 = np.asarray(actual, np.float64)
    terms = np.maximum(np.abs(golden), 0 if largest is None else np.abs(np.asarray(largest, np.float64)))
    bound = ulps * spacing(terms, FLOAT)
    for narrower in {via or actual.dtype, actual.dtype} - {FLOAT}:
        bound = bound + 0.5 * spacing(np.abs(golden) + bound, narrower)
    expected = rounded(golden if via is None else rounded(golden, via), actual.dtype)
    finite = np.abs(expected) < np.inf
    assert_equal(as_float64[~finite], expected[~finite])
    with np.errstate(all="ignore"):
        error = np.where(finite, np.abs(as_float64 - golden), 0)
    worst = np.unravel_index(np.argmax(error / bound), error.shape) if error.size else ()
    assert (error <= bound).all(), f"at {worst}: {as_float64[worst]!r}, expected {golden[worst]!r} within {bound[worst]!r}"


def assert_meets_standard(actual: Array, golden: Any) -> None:
    """The open-operator standard: mean and largest relative error.

    Its 1e-7 has no room for one step of the smallest FLOAT16 numbers, 6e-8, which accumulation in FLOAT can make: that one is let pass.
    """
    threshold = _STANDARD[actual.dtype]
    golden = np.asarray(golden, np.float64)
    assert actual.shape == golden.shape
    error = np.abs(np.asarray(actual, np.float64) - golden)
    relative = np.where(error <= spacing(0, actual.dtype), 0, error / (np.abs(golden) + 1e-7))
    assert relative.mean() < threshold, f"mean relative error {relative.mean()}, allowed {threshold}"
    assert relative.max() < 10 * threshold, f"largest relative error {relative.max()}, allowed {10 * threshold}"
