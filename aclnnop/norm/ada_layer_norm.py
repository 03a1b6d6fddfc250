"""aclnnAdaLayerNorm: layer normalisation, scaled and shifted differently for each sample."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Double, Example, Operand, Out, Plan, Product, numbers, operator, same_dtype, same_shape, shape_is
from aclnnop.math.unary import FLOATS
from aclnnop.norm.adaptive import Adaptive, Factor, Rows, adapted_rows, adaptive_shape, factors_fit, not_empty
from aclnnop.norm.views import in_shapes

RowsOut = Annotated[Operand, Out(*FLOATS, rank=(2, 8))]
OptionalStatistic = Annotated[Operand | None, Out(*FLOATS, rank=(2, 8), optional=True)]


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnAdaLayerNorm(
    x: Rows, scale: Adaptive, shift: Adaptive, weightOptional: Factor, biasOptional: Factor, epsilon: Double, out: RowsOut
) -> Plan:
    """Normalise the rows of ``x``, apply weight and bias, multiply by ``1 + scale`` and add ``shift``."""
    same_dtype(x, weightOptional, biasOptional)
    return adaptive(x, scale, shift, weightOptional, biasOptional, epsilon, out, None, None)


def adaptive(
    x: Operand,
    scale: Operand,
    shift: Operand,
    weight: Operand | None,
    bias: Operand | None,
    epsilon: float,
    out: Operand,
    mean: Operand | None,
    rstd: Operand | None,
) -> Plan:
    """The plan of both versions."""
    same_dtype(x, scale, shift, out, mean, rstd)
    not_empty(x, scale, shift, weight, bias)
    inner = adaptive_shape(x, scale, shift)
    factors_fit(x, weight, bias)
    same_shape(x, out)
    shape, kept, row = x.shape, (*x.shape[:-1], 1), x.shape[-1:]
    statistics = [statistic for statistic in (mean, rstd) if statistic is not None]
    for statistic in statistics:
        shape_is(statistic, kept, "as x, with a last length of 1")
    return in_shapes(
        adapted_rows,
        reads=((x, shape), (scale, inner), (shift, inner), (weight, row), (bias, row)),
        writes=((out, shape), *((statistic, kept) for statistic in statistics)),
        axes=(x.rank - 1,),
        count=x.shape[-1],
        epsilon=epsilon,
        wanted=(True, mean is not None, rstd is not None),
    )


@aclnnAdaLayerNorm.example
def examples() -> Iterator[Example]:
    """With and without factors; with and without positions in scale and shift."""
    for dtype, inner in zip(FLOATS, ((2, 8), (2, 1, 8), (2, 8)), strict=True):
        yield {
            "x": numbers((2, 3, 8), dtype, 1),
            "scale": numbers(inner, dtype, 2),
            "shift": numbers(inner, dtype, 3),
            "weightOptional": numbers((8,), dtype, 4) if len(inner) == 2 else None,
            "biasOptional": numbers((8,), dtype, 5) if len(inner) == 2 else None,
            "epsilon": 1e-5,
            "out": numbers((2, 3, 8), dtype, 6),
        }
