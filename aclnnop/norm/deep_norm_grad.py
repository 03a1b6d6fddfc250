"""aclnnDeepNormGrad: gradients of the layer normalisation of a weighted sum."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import (
    ALL,
    Array,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    numbers,
    operator,
    same_dtype,
    same_shape,
    shape_is,
    together,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.deep_norm import Factor, Rows, RowsOut
from aclnnop.norm.mean_square import ends_with, over_rows
from aclnnop.norm.rows import Axes, factor_gradients, input_gradient
from aclnnop.norm.views import in_shapes

Statistic = Annotated[Operand, In(FLOAT, rank=(2, 8))]
FactorOut = Annotated[Operand, Out(FLOAT, rank=(1, 7), const=True)]


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnDeepNormGrad(
    dy: Rows,
    x: Rows,
    gx: Rows,
    gamma: Factor,
    mean: Statistic,
    rstd: Statistic,
    alpha: Double,
    dxOut: RowsOut,
    dgxOut: RowsOut,
    dbetaOut: FactorOut,
    dgammaOut: FactorOut,
) -> Plan:
    """Give the gradients of both summands and of ``beta`` and ``gamma``."""
    same_dtype(dy, x, gx, gamma, dxOut, dgxOut)
    same_shape(dy, x, gx, dxOut, dgxOut)
    kept = ends_with(x, gamma)
    for statistic in (mean, rstd):
        shape_is(statistic, kept, "as x, with length 1 in the dimensions of gamma")
    same_shape(gamma, dbetaOut, dgammaOut)
    shape = x.shape
    reads = ((dy, shape), (x, shape), (gx, shape), (mean, kept), (rstd, kept))
    sums = ((dxOut, shape), (dgxOut, shape))
    factors = ((dgammaOut, gamma.shape), (dbetaOut, gamma.shape))
    return together(
        [
            in_shapes(of_summands, reads=(*reads, (gamma, gamma.shape)), writes=sums, alpha=alpha, **over_rows(x, gamma)),
            in_shapes(of_factors, reads=reads, writes=factors, alpha=alpha, axes=tuple(range(x.rank - gamma.rank))),
        ]
    )


def of_summands(
    grad: Array, x: Array, gx: Array, mean: Array, rstd: Array, gamma: Array, *, alpha: float, axes: Axes, count: int
) -> tuple[Array, Array]:
    """That of the first is ``alpha`` times that of the second."""
    (found,) = input_gradient(grad, x * alpha + gx, mean, rstd, gamma, axes=axes, count=count)
    return found * alpha, found


def of_factors(grad: Array, x: Array, gx: Array, mean: Array, rstd: Array, *, alpha: float, axes: Axes) -> tuple[Array, ...]:
    """With respect to gamma and beta."""
    return factor_gradients(grad, x * alpha + gx, mean, rstd, axes=axes, wanted=(True, True))


@aclnnDeepNormGrad.example
def examples() -> Iterator[Example]:
    """Rows of one dimension and of two."""
    for dtype, gamma, kept in zip(FLOATS, ((8,), (3, 8), (8,)), ((2, 3, 1), (2, 1, 1), (2, 3, 1)), strict=True):
        yield {
            "dy": numbers((2, 3, 8), dtype, 1),
            "x": numbers((2, 3, 8), dtype, 2),
            "gx": numbers((2, 3, 8), dtype, 3),
            "gamma": numbers(gamma, dtype, 4),
            "mean": numbers(kept, FLOAT, 5),
            "rstd": abs(numbers(kept, FLOAT, 6)),
            "alpha": 0.3,
            "dxOut": numbers((2, 3, 8), dtype, 7),
            "dgxOut": numbers((2, 3, 8), dtype, 8),
            "dbetaOut": numbers(gamma, FLOAT, 9),
            "dgammaOut": numbers(gamma, FLOAT, 10),
        }
