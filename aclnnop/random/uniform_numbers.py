"""Uniformly distributed numbers, whole ones among them, and exponentially distributed ones: plans and kernels."""

from __future__ import annotations

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, DType
from acl_emu.engine import apply
from acl_emu.spec import Array, Operand, Plan, require
from aclnnop.random.drawing import DIGITS, Seed, as_stored, drawn, fractions, in_words, positive_fractions

REAL = (FLOAT, FLOAT16, BF16, DOUBLE)
INTEGERS = (INT32, INT64, INT16, INT8, UINT8)


def between(selfRef: Operand, low: float, high: float, seed: Seed) -> Plan:
    """Numbers from ``low`` to ``high``, which is none of them."""
    require(low <= high, f"from is {low}, expected a value of at most that of to: {high}")
    return drawn(spread_out, seed, selfRef, low=low, high=high)


def require_held(selfRef: Operand, low: float, high: float) -> None:
    """161002 for limits that the type does not hold, or that are farther apart than its largest number."""
    dtype = selfRef.dtype
    most = FINITE.get(dtype) or LARGEST[dtype]
    least = -most if dtype in FINITE else int(np.iinfo(dtype.numpy).min)
    for name, limit in (("from", low), ("to", high)):
        require(least <= limit <= most, f"{name} is {limit}, expected a value in [{least}, {most}] for selfRef of dtype {dtype}")
    require(high - low <= most, f"to - from is {high - low}, expected at most {most} for selfRef of dtype {dtype}")


def spread_out(words: Array, out: Array, *, low: float, high: float) -> None:
    """A piece of them."""
    dtype = dtypes.from_numpy(out.dtype)
    given = in_words(words, dtype)[: out.size]
    apply(interval, [given], [out], dtype=given.dtype, low=low, high=high, last=_last(low, high, dtype), stored=dtype)


def interval(words: Array, *, low: float, high: float, last: float, stored: DType) -> Array:
    """``low + u (high - low)``. What rounding brings to ``high`` is the last number below it."""
    u = fractions(words, DIGITS.get(stored, 53))
    drawn_between = u * u.dtype.type(high - low) + u.dtype.type(low)
    return as_stored(np.minimum(drawn_between, u.dtype.type(last)), stored)


def _last(low: float, high: float, dtype: DType) -> float:
    """The largest number of a type below ``high``, or ``low`` where there is none between."""
    stored = dtype.numpy if dtype in DIGITS else np.dtype(np.float64)
    nearest = np.asarray(dtypes.round_to(np.asarray(high, np.float64), dtypes.from_numpy(stored)))[()]
    below = nearest if nearest < high else np.nextafter(nearest, stored.type(-np.inf))
    return max(float(below), float(np.asarray(low).astype(stored)))


LARGEST = {FLOAT16: 65504, BOOL: 1, **{dtype: int(np.iinfo(dtype.numpy).max) for dtype in INTEGERS}}
"""Of types that hold less than ``int64_t`` does."""
FINITE = {FLOAT: float(np.finfo(np.float32).max), FLOAT16: 65504.0, BF16: (2 - 2.0**-7) * 2.0**127, DOUBLE: float(np.finfo(np.float64).max)}
"""The largest numbers of real types."""
CONSECUTIVE = LARGEST | {FLOAT: 2**24, FLOAT16: 2**11, BF16: 2**8}
"""Up to here a type holds every integer."""


def integer_between(selfRef: Operand, low: int, high: int, seed: Seed) -> Plan:
    """Integers from ``low`` to ``high``, which is none of them."""
    require(low < high, f"from is {low}, expected a value below that of to: {high}")
    largest = LARGEST.get(selfRef.dtype)
    require(largest is None or high - 1 <= largest, f"to is {high}, but selfRef of dtype {selfRef.dtype} holds nothing above {largest}")
    return drawn(modulo, seed, selfRef, width=2, low=low, choices=high - low)


def integer_to_the_largest(selfRef: Operand, seed: Seed) -> Plan:
    """Integers from 0 to the last of those that the type holds without a gap."""
    return drawn(modulo, seed, selfRef, width=2, low=0, choices=CONSECUTIVE[selfRef.dtype] + 1)


def modulo(words: Array, out: Array, *, low: int, choices: int) -> None:
    """A piece of them; 64 bits for each, of which the remainder is a number below ``choices``."""
    given = words.view(np.uint64)[: out.size]
    apply(remainders, [given], [out], dtype=given.dtype, low=low, choices=choices, stored=dtypes.from_numpy(out.dtype))


def remainders(words: Array, *, low: int, choices: int, stored: DType) -> Array:
    """``low + words mod choices``; sums that leave 64 bits come back by wrapping around."""
    kept = words if choices == 2**64 else words % np.uint64(choices)
    found: Array = kept.astype(np.int64) + np.int64(low)
    return found != 0 if stored is BOOL else found


def exponential(selfRef: Operand, count: int, rate: float, seed: Seed) -> Plan:
    """Exponentially distributed numbers in the first ``count`` elements."""
    return drawn(decays, seed, selfRef, count=count, rate=rate)


def decays(words: Array, out: Array, *, rate: float) -> None:
    """A piece of them."""
    given = in_words(words, dtypes.from_numpy(out.dtype))[: out.size]
    apply(decay, [given], [out], dtype=given.dtype, rate=rate)


def decay(words: Array, *, rate: float) -> Array:
    """``-log(u) / rate``: ``u`` and ``1 - u`` are alike."""
    u = positive_fractions(words)
    found: Array = -np.log(u) / u.dtype.type(rate)
    return found
