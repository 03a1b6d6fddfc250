"""Microscaling: blocks of 32 elements that share a power of two, and are rounded to eight or four bits."""

from __future__ import annotations

import numpy as np

from acl_emu.core.dtypes import FLOAT4_E1M2, FLOAT4_E2M1, FLOAT8_E4M3FN, FLOAT8_E5M2, DType
from acl_emu.spec import Array
from aclnnop.math.narrow import encoded, magnitudes, packed

BLOCK = 32
LARGEST_EXPONENT = {FLOAT4_E2M1: 2, FLOAT4_E1M2: 0, FLOAT8_E4M3FN: 8, FLOAT8_E5M2: 15}
LARGEST = {FLOAT8_E4M3FN: 448.0, FLOAT8_E5M2: 57344.0}
BIAS = 127
NO_NUMBER = 255
"""What a scale is where a block has no finite largest element; its elements are 0."""
MODES = ("rint", "floor", "round")


def block_count(length: int) -> int:
    """Scales of a row: an even number."""
    blocks = -(-length // BLOCK)
    return blocks + blocks % 2


def in_blocks(values: Array, dtype: DType, *, rounds_up: bool, mode: str) -> tuple[Array, Array]:
    """The elements as they are stored, and the exponents of their blocks, biased; pairs are filled up with 0.

    ``rounds_up``: the scale is the power of two above what maps the largest element to the type's largest number, else the one that maps
    its exponent to the type's largest.
    """
    *lead, length = values.shape
    blocks = -(-length // BLOCK)
    padded = np.zeros((*lead, blocks * BLOCK))
    padded[..., :length] = values
    parts = padded.reshape(*lead, blocks, BLOCK)
    largest = np.abs(parts).max(axis=-1, keepdims=True)
    finite = np.isfinite(largest)
    codes = exponents_above(largest, dtype) if rounds_up else exponents(largest, dtype)
    quotients = np.where(finite, parts / np.ldexp(1.0, codes - BIAS), 0).reshape(*lead, -1)[..., :length]
    scales = np.zeros((*lead, block_count(length)), np.uint8)
    scales[..., :blocks] = np.where(finite, codes, NO_NUMBER)[..., 0]
    return rounded(quotients, dtype, mode), scales


def exponents(largest: Array, dtype: DType) -> Array:
    """That of the largest element, less the type's largest."""
    _, above = np.frexp(np.where(np.isfinite(largest), largest, 1))
    found: Array = np.where(largest == 0, 0, np.clip(above - 1 - LARGEST_EXPONENT[dtype] + BIAS, 0, 254)).astype(np.int64)
    return found


def exponents_above(largest: Array, dtype: DType) -> Array:
    """Of what maps the largest element to the type's largest number, in FLOAT; rounded up."""
    bits = np.asarray(np.where(np.isfinite(largest), largest, 1) / LARGEST[dtype], np.float32).view(np.int32)
    exponent, digits = bits >> 23 & 0xFF, bits & 0x7FFFFF
    half = np.where(exponent == 0, 1 << 22, 0)
    found: Array = (exponent + ((digits > half) & (exponent < 254))).astype(np.int64)
    return found


def rounded(values: Array, dtype: DType, mode: str) -> Array:
    """The nearest numbers of a type, which saturate, as they are stored; those of four bits by the mode, two to a byte."""
    if dtype in LARGEST:
        return encoded(np.clip(values, -LARGEST[dtype], LARGEST[dtype]), dtype)
    steps, sizes = magnitudes(dtype), np.abs(values)
    below = np.clip(np.searchsorted(steps, sizes, side="right") - 1, 0, len(steps) - 1)
    above = np.minimum(below + (steps[below] < sizes), len(steps) - 1)
    middle = (steps[below] + steps[above]) / 2
    nearer = np.where(sizes > middle, above, np.where(sizes < middle, below, np.where(below % 2 == 0, below, above)))
    chosen = {"rint": nearer, "round": np.where(sizes >= middle, above, below), "floor": np.where(values < 0, above, below)}[mode]
    return packed((chosen | np.where(np.signbit(values), 8, 0)).astype(np.uint8))
