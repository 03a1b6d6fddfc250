"""What quantised results share: their type by a number, their shape, and how they are rounded and stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from acl_emu.core.dtypes import FLOAT8_E4M3FN, FLOAT8_E5M2, HIFLOAT8, INT4, INT8, INT32, DType
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Operand, require, shape_is
from aclnnop.quant.narrowing import narrowed

EIGHT_BIT_FLOATS = (HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN)
INTEGERS = (INT8, INT32, INT4)
"""INT32 stands for eight numbers of INT4."""
RESULTS = (*INTEGERS, *EIGHT_BIT_FLOATS)
ON = {Product.A3: INTEGERS, Product.A2: INTEGERS, Product.A310P: (INT8,), Product.A910: (INT8,)}
"""What the other chips have."""
_ROUNDINGS: dict[str, Callable[[Any], Any]] = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc}
"""All others are to the nearest, halves to even."""


def require_type(name: str, code: int, y: Operand) -> None:
    """A number names the type of the result."""
    require(code == y.dtype.code, f"{name} is {code}, expected that of {y.name}, which has dtype {y.dtype}: {y.dtype.code}")


def require_rounding(name: str, mode: str, allowed: Iterable[str], y: Operand) -> None:
    """A word that there is for the type of the result."""
    require(mode in allowed, f"{name} is {mode!r}, expected one of {', '.join(allowed)} for {y.name} of dtype {y.dtype}")


def result_of(x: Operand, y: Operand) -> None:
    """The shape of a result: eight numbers of INT4 in an INT32, two in a byte, which have to be whole."""
    *rows, last = x.shape
    for dtype, each in ((INT32, 8), (INT4, 2)):
        if y.dtype is dtype:
            require(
                last % each == 0,
                f"x has shape {list(x.shape)}, expected a last dimension that {each} divides for {y.name} of dtype {dtype}",
            )
    shape_is(y, (*rows, last // 8) if y.dtype is INT32 else x.shape, "of the quantised x")
    require(y.dtype is not INT4 or y.contiguous, f"{y.name} of dtype {INT4} has strides, expected a contiguous tensor")


def put(out: Array, values: Array, dtype: DType, rounding: str = "round") -> None:
    """Round, saturate and store."""
    out[...] = stored(values, dtype, rounding).reshape(out.shape)


def stored(values: Array, dtype: DType, rounding: str = "round") -> Array:
    """The elements as they lie in memory; what is not a number is 0 among whole ones."""
    if dtype.kind != "integer":
        return narrowed(values, dtype)
    found = narrowed(_ROUNDINGS.get(rounding, np.rint)(values), INT4 if dtype is INT32 else dtype)
    return found.view(np.int32) if dtype is INT32 else found


def wide(array: Array) -> Array:
    """Numbers as they are computed with."""
    return array.astype(np.float32)
