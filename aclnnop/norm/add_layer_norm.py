"""aclnnAddLayerNorm: the rows of a sum, with mean 0 and standard deviation 1, scaled and shifted."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.math.unary import FLOATS
from aclnnop.norm.mean_square import ends_with, over_rows
from aclnnop.norm.rows import LEAST_ROW, Axes, normalised, scaled, selected
from aclnnop.norm.views import in_shapes

RANKS = range(1, 9)
Rows = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
OptionalRows = Annotated[Operand | None, In(*FLOATS, rank=(1, 8), optional=True)]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8), const=True)]
Statistic = Annotated[Operand, Out(FLOAT, rank=(1, 8), const=True)]

COMBINED: dict[tuple[DType, DType, DType], DType] = {
    (FLOAT, FLOAT16, FLOAT): FLOAT,
    (FLOAT, BF16, FLOAT): FLOAT,
    (FLOAT16, FLOAT, FLOAT): FLOAT,
    (BF16, FLOAT, FLOAT): FLOAT,
    (FLOAT16, FLOAT16, FLOAT): FLOAT16,
    (BF16, BF16, FLOAT): BF16,
    (FLOAT16, FLOAT16, FLOAT16): FLOAT16,
    (BF16, BF16, BF16): BF16,
    (FLOAT, FLOAT, FLOAT): FLOAT,
}
"""The type of bias and results, by those of both summands and of gamma and beta."""


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnAddLayerNorm(
    x1: Rows,
    x2: Rows,
    gamma: Rows,
    beta: Rows,
    biasOptional: OptionalRows,
    epsilon: Double,
    additionalOutput: Bool,
    yOut: RowsOut,
    meanOut: Statistic,
    rstdOut: Statistic,
    xOut: RowsOut,
) -> Plan:
    """Add, normalise over the dimensions of ``gamma``, scale and shift; give the sum, too, where that is asked for."""
    x = xOut if additionalOutput else None
    types_combine(x1, x2, gamma, beta, biasOptional, yOut, x)
    for out in (yOut, meanOut, rstdOut, xOut):
        rank_in(out, *RANKS)
    with in_tiling():
        kept = ends_with(x1, gamma)
        rows_are_long(x1, gamma)
        same_shape(x1, x2, yOut)
        same_shape(gamma, beta)
        if x is not None:
            same_shape(x1, x)
        for statistic in (meanOut, rstdOut):
            shape_is(statistic, kept, "as x1, with length 1 in the dimensions of gamma")
        bias_shape = bias_fits(biasOptional, x1, gamma)
    shape = x1.shape
    return in_shapes(
        added_rows,
        reads=((x1, shape), (x2, shape), (gamma, gamma.shape), (beta, gamma.shape), (biasOptional, bias_shape)),
        writes=((yOut, shape), (meanOut, kept), (rstdOut, kept), *(() if x is None else ((x, shape),))),
        epsilon=epsilon,
        wanted=(True, True, True, x is not None),
        **over_rows(x1, gamma),
    )


def types_combine(x1: Operand, x2: Operand, gamma: Operand, beta: Operand, bias: Operand | None, *results: Operand | None) -> None:
    """A row of the table."""
    same_dtype(gamma, beta)
    result = COMBINED.get((x1.dtype, x2.dtype, gamma.dtype))
    if result is None or (soc.current().product is Product.A310P and x1.dtype is not gamma.dtype):
        require(False, f"x1, x2 and gamma have dtypes {x1.dtype}, {x2.dtype}, {gamma.dtype}, which cannot be combined")
    for operand in filter(None, (bias, *results)):
        require(operand.dtype is result, f"{operand.name} has dtype {operand.dtype}, expected {result} for x1 and x2 of these types")


def rows_are_long(x: Operand, gamma: Operand) -> None:
    """310P takes no short rows."""
    length = gamma.shape[-1] * x.dtype.storage.itemsize
    short = soc.current().product is Product.A310P and length < LEAST_ROW
    require(not short, f"gamma has a last length of {length} bytes, expected at least {LEAST_ROW} on {soc.current().name}")


def bias_fits(bias: Operand | None, x: Operand, gamma: Operand) -> tuple[int, ...]:
    """One for each row, or the same for all."""
    if bias is None:
        return ()
    require(
        bias.shape in (x.shape, gamma.shape),
        f"{bias.name} has shape {list(bias.shape)}, expected that of {x.name}, {list(x.shape)}, or of {gamma.name}: {list(gamma.shape)}",
    )
    return bias.shape


def added_rows(
    x1: Array,
    x2: Array,
    gamma: Array,
    beta: Array,
    bias: Array | None,
    *,
    axes: Axes,
    count: int,
    epsilon: float,
    wanted: tuple[bool, ...],
) -> tuple[Array, ...]:
    """The rows, their statistics, and the sum; those that are wanted."""
    x = x1 + x2 if bias is None else x1 + x2 + bias
    values, mean, rstd = normalised(x, axes, count, epsilon)
    return selected((scaled(values, gamma, beta), mean, rstd, x), wanted)


def call(first: DType, second: DType, factor: DType, bias: tuple[int, ...] | None, *, gives: bool) -> Example:
    """One of shape 2, 3, 16."""
    result = COMBINED[first, second, factor]
    return {
        "x1": numbers((2, 3, 16), first, 1),
        "x2": numbers((2, 3, 16), second, 2),
        "gamma": numbers((16,), factor, 3),
        "beta": numbers((16,), factor, 4),
        "biasOptional": None if bias is None else numbers(bias, result, 5),
        "epsilon": 1e-5,
        "additionalOutput": gives,
        "yOut": numbers((2, 3, 16), result, 6),
        "meanOut": numbers((2, 3, 1), FLOAT, 7),
        "rstdOut": numbers((2, 3, 1), FLOAT, 8),
        "xOut": numbers((2, 3, 16), result, 9),
    }


@aclnnAddLayerNorm.example
def examples() -> Iterator[Example]:
    """What all products have."""
    yield call(FLOAT, FLOAT, FLOAT, (16,), gives=True)
    yield call(FLOAT16, FLOAT16, FLOAT16, None, gives=False)


@aclnnAddLayerNorm.example_on(Product.A2, Product.A3, Product.A950)
def newer_examples() -> Iterator[Example]:
    """The other rows of the table."""
    for turn, types in enumerate(COMBINED):
        yield call(*types, (2, 3, 16) if turn % 2 else None, gives=turn % 3 > 0)
