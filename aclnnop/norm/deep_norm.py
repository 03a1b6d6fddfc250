"""aclnnDeepNorm: layer normalisation of a weighted sum."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import ALL, Array, Double, Example, In, Operand, Out, Plan, Product, numbers, operator, same_dtype, same_shape, shape_is
from aclnnop.math.unary import FLOATS
from aclnnop.norm.mean_square import ends_with, over_rows
from aclnnop.norm.rows import Axes, normalised, scaled
from aclnnop.norm.views import in_shapes

Rows = Annotated[Operand, In(*FLOATS, rank=(2, 8))]
Factor = Annotated[Operand, In(*FLOATS, rank=(1, 7))]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(2, 8), const=True)]


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnDeepNorm(
    x: Rows,
    gx: Rows,
    beta: Factor,
    gamma: Factor,
    alpha: Double,
    epsilon: Double,
    meanOut: Annotated[Operand, Out(FLOAT, rank=(2, 8), const=True)],
    rstdOut: Annotated[Operand, Out(FLOAT, rank=(2, 8), const=True)],
    yOut: RowsOut,
) -> Plan:
    """Normalise ``alpha * x + gx`` over the dimensions of ``gamma``; multiply by ``gamma`` and add ``beta``."""
    same_dtype(x, gx, beta, gamma, yOut)
    same_shape(x, gx, yOut)
    same_shape(gamma, beta)
    kept = ends_with(x, gamma)
    for statistic in (meanOut, rstdOut):
        shape_is(statistic, kept, "as x, with length 1 in the dimensions of gamma")
    shape = x.shape
    return in_shapes(
        weighed_rows,
        reads=((x, shape), (gx, shape), (beta, gamma.shape), (gamma, gamma.shape)),
        writes=((meanOut, kept), (rstdOut, kept), (yOut, shape)),
        alpha=alpha,
        epsilon=epsilon,
        **over_rows(x, gamma),
    )


def weighed_rows(
    x: Array, gx: Array, beta: Array, gamma: Array, *, alpha: float, epsilon: float, axes: Axes, count: int
) -> tuple[Array, ...]:
    """Means, inverse standard deviations and the rows."""
    values, mean, rstd = normalised(x * alpha + gx, axes, count, epsilon)
    return mean, rstd, scaled(values, gamma, beta)


@aclnnDeepNorm.example
def examples() -> Iterator[Example]:
    """Rows of one dimension and of two."""
    for dtype, gamma, kept in zip(FLOATS, ((8,), (3, 8), (8,)), ((2, 3, 1), (2, 1, 1), (2, 3, 1)), strict=True):
        yield {
            "x": numbers((2, 3, 8), dtype, 1),
            "gx": numbers((2, 3, 8), dtype, 2),
            "beta": numbers(gamma, dtype, 3),
            "gamma": numbers(gamma, dtype, 4),
            "alpha": 0.3,
            "epsilon": 1e-6,
            "meanOut": numbers(kept, FLOAT, 5),
            "rstdOut": numbers(kept, FLOAT, 6),
            "yOut": numbers((2, 3, 8), dtype, 7),
        }
