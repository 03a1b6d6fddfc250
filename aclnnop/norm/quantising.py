"""Normalised rows that are quantised at once: what the fused forms share. All is computed in float64 and rounded once."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT16, HIFLOAT8, INT4, INT8, INT32, DType
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Operand, Out, require, same_shape, shape_is
from aclnnop.quant.narrowing import narrowed, row_scales

HALVES = (FLOAT16, BF16)
EIGHT_BITS = (INT8, HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN)
INTEGERS_ONLY = dict.fromkeys((Product.A2, Product.A3, Product.A310P), (INT8,))
Quantised = Annotated[Operand, Out(*EIGHT_BITS, rank=(1, 8), on=INTEGERS_ONLY)]
PACKED = 8
"""How many INT4 an INT32 holds."""


def wide(array: Array | None) -> Any:
    """In float64; null stays null."""
    return None if array is None else np.asarray(array, np.float64)


def rms_rows(x: Array, gamma: Array, beta: Array | None, axes: tuple[int, ...], epsilon: float) -> tuple[Array, Array, Array]:
    """Rows over the root of their mean square, times gamma: with beta, without it; and the factors."""
    rstd = 1 / np.sqrt(np.square(x).mean(axis=axes, keepdims=True) + epsilon)
    plain = x * rstd * gamma
    return plain if beta is None else plain + beta, plain, rstd


def layer_rows(x: Array, gamma: Array | None, beta: Array | None, axes: tuple[int, ...], epsilon: float) -> Array:
    """Rows with mean 0 and standard deviation 1, scaled and shifted."""
    differences = x - x.mean(axis=axes, keepdims=True)
    values = differences / np.sqrt(np.square(differences).mean(axis=axes, keepdims=True) + epsilon)
    weighed = values if gamma is None else values * gamma
    found: Array = weighed if beta is None else weighed + beta
    return found


def with_scale(values: Array, scale: Array | None, offset: Array | None, *, divides: bool) -> Array:
    """Over the scale, or times it, plus the offset; what is not given is left out."""
    scaled = values if scale is None else values / scale if divides else values * scale
    found: Array = scaled if offset is None else scaled + offset
    return found


def with_row_scales(values: Array, smooth: Array | None, dtype: DType) -> tuple[Array, Array]:
    """Each row over what makes its largest magnitude the type's largest number; and these scales."""
    scales, quotients = row_scales(values if smooth is None else values * smooth, dtype)
    return quotients, scales


def store(target: Array, values: Array, dtype: DType) -> None:
    """Round to the type of an output; INT32 holds eight INT4 each."""
    if dtype is INT32:
        target[...] = narrowed(values, INT4).view(np.int32).reshape(target.shape)
    else:
        target[...] = narrowed(values, dtype)


def meant(dtype: DType) -> DType:
    """The type of the numbers that an output holds."""
    return INT4 if dtype is INT32 else dtype


def quantised_shape(x: Operand, y: Operand) -> None:
    """That of ``x``; one of INT32 has an eighth of its columns, and rows of INT4 have an even length."""
    if y.dtype is INT32:
        require(
            x.shape[-1] % PACKED == 0, f"{x.name} has shape {list(x.shape)}, expected a last length that {PACKED} divides for {y.dtype}"
        )
        shape_is(y, (*x.shape[:-1], x.shape[-1] // PACKED), f"as {x.name}, with an eighth of its columns")
        return
    same_shape(x, y)
    require(y.dtype is not INT4 or x.shape[-1] % 2 == 0, f"{x.name} has shape {list(x.shape)}, expected an even last length for {y.dtype}")


def one_scale_for_each_row(scales: Operand, x: Operand) -> None:
    """As ``x`` without its last dimension, or all of them in a row."""
    rows = x.shape[:-1]
    flat = (int(np.prod(rows)),)
    require(
        scales.shape in (rows, flat) or scales.size == flat[0] == 1,
        f"{scales.name} has shape {list(scales.shape)}, expected {list(rows)}, as {x.name} without its last dimension, or {list(flat)}",
    )


def types_in(table: Any, product: Product, **operands: Operand | None) -> None:
    """A row of the product's table; null operands fit any."""
    given = [None if operand is None else operand.dtype for operand in operands.values()]
    found = any(all(own in (None, listed) for own, listed in zip(given, row, strict=True)) for row in table[product])
    text = ", ".join(f"{name} {dtype}" for name, dtype in zip(operands, given, strict=True))
    require(found, f"{next(iter(operands))} and others have dtypes that cannot be combined: {text}")


ROWS_WITH_SCALES: dict[Product, tuple[tuple[DType, DType, DType], ...]] = {
    Product.A310P: ((FLOAT16, FLOAT, INT32),),
    **dict.fromkeys((Product.A2, Product.A3), ((FLOAT16, FLOAT, INT32), (BF16, BF16, BF16))),
    Product.A950: (
        (FLOAT16, FLOAT, INT32),
        (BF16, FLOAT, INT32),
        (FLOAT, FLOAT, FLOAT),
        (FLOAT16, FLOAT16, FLOAT16),
        (BF16, BF16, BF16),
        (FLOAT16, FLOAT, FLOAT),
        (BF16, FLOAT, FLOAT),
    ),
}
"""Types of rows, scales and zero points that go together."""
