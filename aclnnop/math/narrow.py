"""Types that numpy has no arrays of: 8- and 4-bit floats, INT4, complex numbers with parts of half precision."""

from functools import lru_cache

import numpy as np

from acl_emu.core.dtypes import COMPLEX32, FLOAT4_E1M2, FLOAT4_E2M1, HIFLOAT8, INT4, DType, round_to
from acl_emu.spec import Array

_HIFLOAT8_NAN = 0x80


@lru_cache(maxsize=None)
def magnitudes(dtype: DType) -> Array:
    """The value of every code without a sign."""
    if dtype is FLOAT4_E1M2:
        return np.arange(8) / 4
    if dtype is FLOAT4_E2M1:
        return np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    return np.array([_hifloat8(code) for code in range(128)])


def _hifloat8(code: int) -> float:
    """A prefix says how many bits the exponent has, what is left is the significand: precision tapers off with magnitude."""
    if code == 0x6F:
        return np.inf
    for prefix, shift, exponent_bits in ((3, 5, 4), (2, 5, 3), (1, 5, 2), (1, 4, 1), (1, 3, 0)):
        if code >> shift == prefix:
            digits = shift - exponent_bits
            field = (code >> digits) & (2**exponent_bits - 1)
            half = 2**exponent_bits // 2  # the exponent is a sign and a magnitude whose leading one is not stored
            exponent = 0 if exponent_bits == 0 else field + half if field < half else -field
            return float(2.0**exponent * (1 + (code & (2**digits - 1)) / 2**digits))
    return 2.0 ** (code - 23) if code else 0.0


def decoded(stored: Array, dtype: DType, shape: tuple[int, ...]) -> Array:
    """What bare bits mean; arrays that numpy knows stay as they are."""
    if dtype is COMPLEX32:
        return np.asarray(stored["real"])
    if dtype not in (HIFLOAT8, FLOAT4_E2M1, FLOAT4_E1M2):
        return stored
    codes = stored if dtype.bits == 8 else np.stack((stored & 15, stored >> 4), axis=-1).reshape(-1)[: int(np.prod(shape))].reshape(shape)
    sign = 1 << (dtype.bits - 1)
    values = np.where(codes & sign, -1, 1) * magnitudes(dtype)[codes & (sign - 1)]
    return np.where(codes == _HIFLOAT8_NAN, np.nan, values)


def encoded(values: Array, dtype: DType) -> Array:
    """The bare bits of the nearest numbers; arrays that numpy knows are rounded to ``dtype``."""
    if dtype is COMPLEX32:
        stored = np.zeros(values.shape, dtype.storage)
        stored["real"] = values
        return stored
    if dtype is INT4:
        return packed(values.astype(np.uint8) & 15)
    if dtype not in (HIFLOAT8, FLOAT4_E2M1, FLOAT4_E1M2):
        return round_to(values.astype(np.float32), dtype)
    codes = nearest(np.abs(values.astype(np.float64)), dtype)
    sign = np.signbit(values) & ((codes > 0) | (dtype is not HIFLOAT8))
    codes = (codes | np.where(sign, 1 << (dtype.bits - 1), 0)).astype(np.uint8)
    if dtype is HIFLOAT8:
        return np.where(np.isnan(values), np.uint8(_HIFLOAT8_NAN), codes)
    return packed(np.where(np.isnan(values), np.uint8(0), codes))


def nearest(values: Array, dtype: DType) -> Array:
    """The code of the nearest magnitude: ties go away from zero in HIFLOAT8, to the even code in the others, which saturate."""
    table = magnitudes(dtype)
    order = np.argsort(table)
    steps = table[order]
    if dtype is HIFLOAT8:
        steps[-1] = 1.5 * 2.0**15  # what would follow the largest number counts as infinity
    middles = (steps[:-1] + steps[1:]) / 2
    up = np.searchsorted(middles, values, side="right")
    down = np.searchsorted(middles, values, side="left")
    return order[np.where((up != down) & (dtype is not HIFLOAT8) & (down % 2 == 0), down, up)]


def packed(codes: Array) -> Array:
    """Two codes to a byte, the first in the low half."""
    flat = np.zeros(-(-codes.size // 2) * 2, np.uint8)
    flat[: codes.size] = codes.reshape(-1)
    return flat[::2] | flat[1::2] << 4
