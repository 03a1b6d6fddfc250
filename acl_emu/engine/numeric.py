"""What kernels need and numpy does not have: sums that lose nothing on the way, and functions. Arrays and symbols of a capture alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core.dtypes import DType
from acl_emu.engine.capture import Symbol

Array = npt.NDArray[Any]


def total(values: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    """The sum along axes, in the type of the values; of floats it is taken in float64, of integers it wraps around."""
    wide = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}.get(values.dtype.kind, values.dtype)
    sums: Array = values.sum(axis=axis, dtype=wide, keepdims=keepdims).astype(values.dtype)
    return sums


def to_integers(values: Array, dtype: DType) -> Array:
    """Floats as integers: towards zero, NaN to 0; types of 32 and 64 bits saturate, narrower ones wrap around from INT32."""
    if isinstance(values, Symbol):  # as the engine casts
        return values.astype(dtype.numpy)
    carrier = dtype.numpy if dtype.bits >= 32 else np.dtype(np.int32)
    low, high = np.iinfo(carrier).min, np.iinfo(carrier).max
    truncated = np.trunc(values.astype(np.float64))
    truncated = np.where(np.isnan(truncated), 0, truncated)
    # 2**63 - 1 has no float64 of its own: clip to the last one below the limit, and set what lies beyond by hand.
    held = np.clip(truncated, low, np.nextafter(high + 1.0, 0)).astype(carrier)
    return np.where(truncated >= high + 1.0, carrier.type(high), held).astype(dtype.numpy)


def erf(x: Array) -> Array:
    """The error function."""
    return _by_element("erf", math.erf, x)


def erfc(x: Array) -> Array:
    """What the error function lacks to 1."""
    return _by_element("erfc", math.erfc, x)


def rsqrt(x: Array) -> Array:
    """One over the square root."""
    return _captured("rsqrt", x) if isinstance(x, Symbol) else 1 / np.sqrt(x)


def _by_element(name: str, function: Any, x: Array) -> Array:
    if isinstance(x, Symbol):
        return _captured(name, x)
    found = [function(value) for value in x.astype(np.float64).ravel().tolist()]
    return np.array(found, np.float64).reshape(x.shape).astype(x.dtype)


def _captured(name: str, x: Symbol) -> Any:
    return x.apply(name, [x.dtype], x.dtype, x)
