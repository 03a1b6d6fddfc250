"""aclnnAddLayerNormGrad: gradients of the layer normalisation of a sum."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import ALL, Array, Example, In, Operand, Out, Plan, Product, numbers, operator, same_dtype, same_shape, shape_is, together
from aclnnop.math.unary import FLOATS
from aclnnop.norm.add_layer_norm import Rows, RowsOut
from aclnnop.norm.mean_square import ends_with, over_rows
from aclnnop.norm.rows import Axes, factor_gradients, input_gradient
from aclnnop.norm.views import in_shapes

Statistic = Annotated[Operand, In(FLOAT, rank=(1, 8))]
FactorOut = Annotated[Operand, Out(FLOAT, rank=(1, 8), const=True)]


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnAddLayerNormGrad(
    dy: Rows,
    x1: Rows,
    x2: Rows,
    rstd: Statistic,
    mean: Statistic,
    gamma: Rows,
    dsumOptional: Annotated[Operand | None, In(*FLOATS, rank=(1, 8), optional=True)],
    dxOut: RowsOut,
    dgammaOut: FactorOut,
    dbetaOut: FactorOut,
) -> Plan:
    """Give the gradient of the sum, to which that of its other uses is added, and those of ``gamma`` and ``beta``."""
    same_dtype(dy, x1, x2, gamma, dsumOptional, dxOut)
    same_shape(dy, x1, x2, dxOut)
    kept = ends_with(x1, gamma)
    for statistic in (rstd, mean):
        shape_is(statistic, kept, "as x1, with length 1 in the dimensions of gamma")
    same_shape(gamma, dgammaOut, dbetaOut)
    if dsumOptional is not None:
        same_shape(dy, dsumOptional)
    shape, rest = dy.shape, x1.rank - gamma.rank
    reads = ((dy, shape), (x1, shape), (x2, shape), (mean, kept), (rstd, kept))
    factors = ((dgammaOut, gamma.shape), (dbetaOut, gamma.shape))
    return together(
        [
            in_shapes(
                of_sum,
                reads=(*reads, (gamma, gamma.shape), (dsumOptional, shape)),
                writes=((dxOut, shape),),
                **over_rows(x1, gamma),
            ),
            in_shapes(of_factors, reads=reads, writes=factors, axes=tuple(range(rest))),
        ]
    )


def of_sum(
    grad: Array, x1: Array, x2: Array, mean: Array, rstd: Array, gamma: Array, others: Array | None, *, axes: Axes, count: int
) -> tuple[Array]:
    """The gradient of layer normalisation, and what else the sum is used for."""
    (found,) = input_gradient(grad, x1 + x2, mean, rstd, gamma, axes=axes, count=count)
    return (found if others is None else found + others,)


def of_factors(grad: Array, x1: Array, x2: Array, mean: Array, rstd: Array, *, axes: Axes) -> tuple[Array, ...]:
    """With respect to gamma and beta."""
    return factor_gradients(grad, x1 + x2, mean, rstd, axes=axes, wanted=(True, True))


@aclnnAddLayerNormGrad.example
def examples() -> Iterator[Example]:
    """Rows of one dimension and of two, with and without another gradient."""
    for dtype, gamma, kept in zip(FLOATS, ((8,), (3, 8), (8,)), ((2, 3, 1), (2, 1, 1), (2, 3, 1)), strict=True):
        yield {
            "dy": numbers((2, 3, 8), dtype, 1),
            "x1": numbers((2, 3, 8), dtype, 2),
            "x2": numbers((2, 3, 8), dtype, 3),
            "rstd": abs(numbers(kept, FLOAT, 4)),
            "mean": numbers(kept, FLOAT, 5),
            "gamma": numbers(gamma, dtype, 6),
            "dsumOptional": numbers((2, 3, 8), dtype, 7) if len(gamma) == 1 else None,
            "dxOut": numbers((2, 3, 8), dtype, 8),
            "dgammaOut": numbers(gamma, FLOAT, 9),
            "dbetaOut": numbers(gamma, FLOAT, 10),
        }
