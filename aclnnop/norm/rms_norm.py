"""aclnnRmsNorm: rows divided by the root of their mean square."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import (
    ALL,
    Array,
    ConstFloatOut,
    Double,
    Example,
    FloatIn,
    Operand,
    Out,
    Plan,
    Product,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling

LEAST_ROW = 32
"""Bytes of a row of gamma that 310P asks for."""


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnRmsNorm(
    x: FloatIn,
    gamma: FloatIn,
    epsilon: Double,
    yOut: ConstFloatOut,
    rstdOut: Annotated[Operand, Out(FLOAT, const=True)],
) -> Plan:
    """Divide ``x`` by the root of its mean square over the dimensions of ``gamma``, and multiply by ``gamma``."""
    old = soc.current().product is Product.A310P
    same_dtype(x, yOut)
    if old or gamma.dtype is not FLOAT:
        same_dtype(x, gamma)
    with in_tiling():
        require(x.rank > 0, "x has 0 dimensions, expected 1 to 8")
        require(
            0 < gamma.rank <= x.rank and gamma.shape == x.shape[x.rank - gamma.rank :],
            f"gamma has shape {list(gamma.shape)}, expected the last dimensions of x, at least one: {list(x.shape)}",
        )
        require(gamma.size > 0, f"gamma has shape {list(gamma.shape)}, expected no length of 0")
        length = gamma.size * gamma.dtype.storage.itemsize
        require(not old or length >= LEAST_ROW, f"gamma has {length} bytes, expected at least {LEAST_ROW} on {soc.current().name}")
        same_shape(x, yOut)
        rstd = one_for_each_row(rstdOut, (*x.shape[: x.rank - gamma.rank], *(1,) * gamma.rank))
    axes = tuple(range(x.rank - gamma.rank, x.rank))
    return mapped(
        normalised,
        reads=(x, gamma),
        writes=(yOut, rstd),
        dtype=x.dtype,
        raw=(rstd,),
        axes=axes,
        count=gamma.size,
        epsilon=epsilon,
    )


@aclnnRmsNorm.example
def examples() -> Iterator[Example]:
    """One type for all; rows of one dimension and of two."""
    calls = (
        (FLOAT, FLOAT, (16,), (2, 3, 1)),
        (FLOAT16, FLOAT16, (3, 16), (2, 1, 1)),
    )
    yield from (call(*one) for one in calls)


@aclnnRmsNorm.example_on(Product.A2, Product.A3, Product.A950)
def newer_examples() -> Iterator[Example]:
    """Types that 310P has not."""
    calls = (
        (BF16, BF16, (16,), (2, 3, 1)),
        (FLOAT16, FLOAT, (16,), (2, 3, 1)),
        (BF16, FLOAT, (2, 3, 16), (1, 1, 1)),
    )
    yield from (call(*one) for one in calls)


def call(dtype: DType, weight: DType, scaled: tuple[int, ...], rows: tuple[int, ...]) -> Example:
    """One of shape 2, 3, 16."""
    return {
        "x": numbers((2, 3, 16), dtype, 1, 3),
        "gamma": numbers(scaled, weight, 2),
        "epsilon": 1e-6,
        "yOut": numbers((2, 3, 16), dtype, 3),
        "rstdOut": numbers(rows, FLOAT, 4),
    }


def one_for_each_row(rstd: Operand, shape: tuple[int, ...]) -> Operand:
    """``rstd`` in this shape. A device writes one element after the other into contiguous memory, whatever the dimensions are called."""
    if rstd.contiguous and rstd.size >= math.prod(shape):
        return rstd.in_view(shape)
    shape_is(rstd, shape, "as x, with length 1 in the dimensions of gamma")
    return rstd


def normalised(x: Array, gamma: Array, *, axes: tuple[int, ...], count: int, epsilon: float) -> tuple[Array, Array]:
    """The rows and their factors; an infinite element stays infinite. Squares may be too large for float32."""
    squares = np.square(x.astype(np.float64)).sum(axis=axes, keepdims=True)
    rms = np.sqrt(squares / count + epsilon).astype(x.dtype)
    return np.where(np.abs(x) == np.inf, x, x / rms) * gamma, 1 / rms
