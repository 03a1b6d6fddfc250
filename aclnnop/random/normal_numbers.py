"""Normally distributed numbers: plans and kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, DType
from acl_emu.engine import apply
from acl_emu.spec import Array, Operand, Plan, require
from aclnnop.random.drawing import Seed, as_stored, drawn, in_words, positive_fractions

REAL = (FLOAT, FLOAT16, BF16, DOUBLE)
COUNTED = (INT32, INT64, INT16, INT8, UINT8, BOOL)


def filled(selfRef: Operand, mean: float, std: float, seed: Seed) -> Plan:
    """Normal numbers in every element."""
    require(std >= 0, f"std is {std}, expected a value of at least 0")
    return normal(selfRef, mean, std, seed)


def normal(out: Operand, mean: float | Operand, std: float | Operand, seed: Seed) -> Plan:
    """Normal numbers with a mean and a standard deviation for all of them, or for each."""
    tensors = [value for value in (mean, std) if isinstance(value, Operand)]
    fixed: dict[str, Any] = {name: value for name, value in (("mean", mean), ("std", std)) if not isinstance(value, Operand)}
    return drawn(scaled, seed, out, reads=tensors, **fixed)


def standard(words: Array, count: int) -> Array:
    """As many numbers of mean 0 and deviation 1."""
    half = -(-count // 2)
    numbers = np.empty(2 * half, np.float64 if words.dtype.itemsize == 8 else np.float32)
    apply(polar, [words[:half], words[half : 2 * half]], [numbers[:half], numbers[half:]], dtype=words.dtype)
    return numbers[:count]


def polar(first: Array, second: Array) -> tuple[Array, Array]:
    """Two independent normal numbers of two uniform ones: a radius, and an angle."""
    radius = np.sqrt(-2 * np.log(positive_fractions(first)))
    angle = positive_fractions(second) * radius.dtype.type(2 * math.pi)
    return radius * np.cos(angle), radius * np.sin(angle)


def scaled(words: Array, *arrays: Array, **fixed: float) -> None:
    """``mean + std × z``; tensors come as arrays, in this order."""
    *tensors, out = arrays
    dtype = dtypes.from_numpy(out.dtype)
    numbers = standard(in_words(words, dtype), out.size)
    apply(FORMS[frozenset(fixed)], [numbers, *tensors], [out], dtype=numbers.dtype, stored=dtype, **fixed)


def affine(numbers: Array, *, mean: float, std: float, stored: DType) -> Array:
    """The formula."""
    return as_stored(numbers * numbers.dtype.type(std) + numbers.dtype.type(mean), stored)


def affine_of_tensors(numbers: Array, mean: Array, std: Array, *, stored: DType) -> Array:
    """Both differ from element to element."""
    return as_stored(numbers * std + mean, stored)


def affine_by_mean(numbers: Array, mean: Array, *, std: float, stored: DType) -> Array:
    """The mean does."""
    return affine_of_tensors(numbers, mean, numbers.dtype.type(std), stored=stored)


def affine_by_std(numbers: Array, std: Array, *, mean: float, stored: DType) -> Array:
    """The deviation does."""
    return affine_of_tensors(numbers, numbers.dtype.type(mean), std, stored=stored)


FORMS: dict[frozenset[str], Callable[..., Array]] = {
    frozenset({"mean", "std"}): affine,
    frozenset({"std"}): affine_by_mean,
    frozenset({"mean"}): affine_by_std,
    frozenset(): affine_of_tensors,
}
"""By what is the same for all elements."""
