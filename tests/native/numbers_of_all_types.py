"""Numbers of all types, what they are as others in exact arithmetic, and casts by the engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from acl_emu import engine as native
from acl_emu.core import dtypes
from aclnnop.math.conversion import converted
from tests.native.support import BF16, assert_same

Array = npt.NDArray[Any]

FLOATS = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), BF16]
BOOL = np.dtype(np.bool_)
INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES = [*FLOATS, BOOL, *INTEGERS]
LANES = [np.dtype(name) for name in ("int8", "uint8", "int16", "int32", "int64")]


def bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def wrapped(value: int, dtype: np.dtype[Any]) -> int:
    low, high = bounds(dtype)
    return (value - low) % (high - low + 1) + low


def special(dtype: np.dtype[Any]) -> Array:
    """Borders of every type, middles between two numbers of the half types and of float32, and what is beside them."""
    whole = [0, *(2**k for k in range(65)), *(n << k for n in (0x101, 0x103, 0x181, 0x801, 0x1000001, 0x1000003) for k in range(0, 55, 3))]
    near = sorted({sign * value + beside for value in whole for beside in (-1, 0, 1) for sign in (1, -1)})
    if dtype == BOOL:
        return np.array([False, True] * 20)
    if dtype in INTEGERS:
        return np.array([wrapped(value, dtype) for value in near], dtype)
    with np.errstate(all="ignore"):
        numbers = np.array([*near, *(value + 0.5 for value in near), -0.0, 65519.99, 65520, 3.4e38], np.float64)
        tiny = [ml_dtypes.finfo(one).smallest_subnormal for one in FLOATS]
        found = np.concatenate([numbers, np.array(tiny, np.float64) / 2, [np.inf, -np.inf, np.nan]]).astype(dtype)
        return np.concatenate([found, np.nextafter(found, dtype.type(np.inf)), np.nextafter(found, dtype.type(-np.inf))])


def drawn(dtype: np.dtype[Any], count: int, seed: int = 1) -> Array:
    """Any bits, integers and floats of every size."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 64, count, dtype=np.uint64)
    if dtype == BOOL:
        return bits % 2 == 1
    if dtype in INTEGERS:
        return (bits >> rng.integers(0, 64, count, dtype=np.uint64)).astype(dtype) * rng.choice([1, -1], count).astype(dtype)
    with np.errstate(all="ignore"):
        of_every_size = (rng.standard_normal(count) * 2.0 ** rng.uniform(-5, 66, count)).astype(dtype)
    return np.where(bits % 2 == 1, of_every_size, bits.astype(f"u{dtype.itemsize}").view(dtype))


def reference(value: Any, dtype: np.dtype[Any]) -> Any:
    """One number as another type, in exact arithmetic."""
    exact = bool(value) if isinstance(value, np.bool_) else int(value) if isinstance(value, np.integer) else float(value)
    if dtype == BOOL:
        return exact != 0
    if dtype in INTEGERS:
        if isinstance(exact, float):
            low, high = bounds(dtype if dtype.itemsize >= 4 else np.dtype(np.int32))
            exact = 0 if math.isnan(exact) else low if exact < low else high if exact > high else math.trunc(exact)
        return wrapped(int(exact), dtype)
    if not exact or not math.isfinite(exact):
        return float(exact)
    return nearest(Fraction(exact), dtype)


def nearest(value: Fraction, dtype: np.dtype[Any]) -> float:
    """The nearest number, ties to even."""
    info = ml_dtypes.finfo(dtype)
    exponent = math.frexp(float(value))[1] - 1
    exponent -= abs(value) < Fraction(2) ** exponent  # float() may have rounded up
    step = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    rounded = round(value / step) * step
    return math.copysign(float(rounded) if abs(rounded) < Fraction(2) ** int(info.maxexp) else math.inf, value)


def cast(values: Array, out: Array, threads: int | None = None) -> Array:
    """By the engine: numpy may not step in."""
    return run(cast_nest(values, out), (values, out), threads)


def cast_nest(values: Array, out: Array) -> native.Nest | None:
    """What casts arrays that lie like these."""
    return native.nest_for(unchanged, (native.layout_of(values),), (native.layout_of(out),), out.dtype, ())


def unchanged(values: Array) -> Array:
    """As they are."""
    return values


def run(nest: native.Nest | None, arrays: Sequence[Array], threads: int | None = None) -> Array:
    """The last of the arrays, computed by the engine."""
    assert nest is not None, "the engine has no way to run the kernel"
    if threads is not None:
        nest._threads = threads
    assert nest.run([array.ctypes.data for array in arrays]), "the engine refused the operands"
    return arrays[-1]


def defined(values: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        return converted(values, dtypes.from_numpy(dtype))


def check_cast(source: np.dtype[Any], target: np.dtype[Any]) -> tuple[Array, Array]:
    """Any bits, or all there are, as numpy has it; returns what was cast, and what it became."""
    every = np.arange(1 << 16, dtype=np.uint16).view(source) if source in (FLOATS[2], BF16) else drawn(source, 30_011)
    expected = defined(every, target)
    assert_same(cast(every, np.empty(every.shape, target)), expected)
    return every, expected
