"""What the examples of operators are made of. They are built when somebody asks for them, never at import."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from acl_emu.core.dtypes import DType
from acl_emu.core.soc import Product

Array = npt.NDArray[Any]

Example: TypeAlias = dict[str, Any]
"""One valid call, small and not empty: arrays for tensors, numbers for scalars and attributes, sequences of these for lists, None for
null. Arrays of outputs give shape and dtype, and what the memory holds before."""


class Examples(NamedTuple):
    """A function that builds examples of an operator, and the products that they are for."""

    build: Callable[[], Iterable[Example]]
    products: frozenset[Product]


def numbers(shape: tuple[int, ...], dtype: DType | npt.DTypeLike, seed: int = 0, scale: float = 1.0) -> Array:
    """Normally distributed numbers that ``dtype`` holds, the same for the same arguments; those of unsigned types are not negative."""
    wanted = _numpy(dtype)
    rng = np.random.default_rng((seed, math.prod(shape)))
    drawn = np.asarray(rng.standard_normal(shape) * scale)
    if wanted.kind == "c":
        drawn = drawn + 1j * rng.standard_normal(shape) * scale
    return (np.abs(drawn) if wanted.kind == "u" else drawn).astype(wanted)


def between(low: float, high: float, shape: tuple[int, ...], dtype: DType | npt.DTypeLike, seed: int = 0) -> Array:
    """Numbers from ``low`` to ``high``, the same for the same arguments; whole ones, ``high`` excluded, for types that hold no others."""
    wanted = _numpy(dtype)
    rng = np.random.default_rng((seed, math.prod(shape)))
    drawn = rng.integers(int(low), int(high), shape) if wanted.kind in "iub" else rng.uniform(low, high, shape)
    return np.asarray(drawn).astype(wanted)


def _numpy(dtype: DType | npt.DTypeLike) -> np.dtype[Any]:
    return dtype.numpy if isinstance(dtype, DType) else np.dtype(dtype)
