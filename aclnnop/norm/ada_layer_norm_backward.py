"""aclnnAdaLayerNormBackward: gradients of layer normalisation that is scaled and shifted differently for each sample."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    length_is,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
    together,
    total,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.adaptive import Adaptive, Factor, Rows, adaptive_shape, factors_fit, not_empty
from aclnnop.norm.rows import Axes, factor_gradients, input_gradient, scaled, selected
from aclnnop.norm.views import in_shapes

Statistic = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
RowsOut = Annotated[Operand | None, Out(*FLOATS, rank=(2, 8), optional=True)]
AdaptiveOut = Annotated[Operand | None, Out(*FLOATS, rank=(1, 8), optional=True)]
FactorOut = Annotated[Operand | None, Out(*FLOATS, rank=1, optional=True)]


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnAdaLayerNormBackward(
    gradOut: Rows,
    input: Rows,
    normalizedShape: IntArrayIn,
    rstd: Statistic,
    mean: Statistic,
    scale: Adaptive,
    shift: Adaptive,
    weightOptional: Factor,
    biasOptional: Factor,
    gradInputOut: RowsOut,
    gradScaleOut: AdaptiveOut,
    gradShiftOut: AdaptiveOut,
    gradWeightOut: FactorOut,
    gradBiasOut: FactorOut,
) -> Plan:
    """Give those gradients that are not null."""
    same_dtype(gradOut, input, rstd, mean, scale, shift, gradInputOut, gradScaleOut, gradShiftOut)
    factor = weightOptional or biasOptional
    if factor is not None:
        same_dtype(factor, biasOptional, gradWeightOut, gradBiasOut)
    not_empty(input, scale, shift)
    require(len(normalizedShape) == 1, f"normalizedShape has {len(normalizedShape)} elements, expected 1")
    row, shape = input.shape[-1:], input.shape
    require(row == normalizedShape.values, f"input has shape {list(shape)}, expected a last length of {normalizedShape.values[0]}")
    same_shape(input, gradOut)
    rows = input.size // row[0]
    for statistic in (mean, rstd):
        length_is(statistic, rows, "one for each row of input")
    inner = adaptive_shape(input, scale, shift)
    factors_fit(input, weightOptional, biasOptional)
    for given, gradient in ((input, gradInputOut), (scale, gradScaleOut), (shift, gradShiftOut)):
        if gradient is not None:
            same_shape(given, gradient)
    for gradient in filter(None, (gradWeightOut, gradBiasOut)):
        shape_is(gradient, row, "the last length of input")
    kept, last = (*shape[:-1], 1), input.rank - 1
    reads = ((gradOut, shape), (input, shape), (mean, kept), (rstd, kept))
    factors = ((weightOptional, row), (biasOptional, row))
    plans = []
    if gradInputOut is not None:
        plans.append(
            in_shapes(of_input, reads=(*reads, (scale, inner), factors[0]), writes=((gradInputOut, shape),), axes=(last,), count=row[0])
        )
    for kernel, taken, pair, onto, axes in (
        (of_scale, (*reads, *factors), (gradScaleOut, gradShiftOut), inner, (last - 1,)),
        (of_factors, (*reads, (scale, inner)), (gradWeightOut, gradBiasOut), row, tuple(range(last))),
    ):
        writes = [(gradient, onto) for gradient in pair if gradient is not None]
        if writes:
            plans.append(in_shapes(kernel, reads=taken, writes=writes, axes=axes, wanted=tuple(one is not None for one in pair)))
    return together(plans)


def of_input(
    grad: Array, x: Array, mean: Array, rstd: Array, scale: Array, weight: Array | None, *, axes: Axes, count: int
) -> tuple[Array]:
    """As in layer normalisation; the weight is that of the sample."""
    return input_gradient(grad * (1 + scale), x, mean, rstd, weight, axes=axes, count=count)


def of_scale(
    grad: Array,
    x: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    *,
    axes: Axes,
    wanted: tuple[bool, ...],
) -> tuple[Array, ...]:
    """With respect to scale and shift, summed over the positions of a sample."""
    values = scaled((x - mean) * rstd, weight, bias)
    return selected((total(grad * values, axes, keepdims=True), total(grad, axes, keepdims=True)), wanted)


def of_factors(grad: Array, x: Array, mean: Array, rstd: Array, scale: Array, *, axes: Axes, wanted: tuple[bool, ...]) -> tuple[Array, ...]:
    """With respect to weight and bias, summed over all rows."""
    return factor_gradients(grad * (1 + scale), x, mean, rstd, axes=axes, wanted=wanted)


@aclnnAdaLayerNormBackward.example
def examples() -> Iterator[Example]:
    """With and without factors; all gradients, and some of them."""
    for dtype, inner, factor in zip(FLOATS, ((2, 8), (2, 1, 8), (2, 8)), (FLOATS[0], None, FLOAT), strict=True):
        yield {
            "gradOut": numbers((2, 3, 8), dtype, 1),
            "input": numbers((2, 3, 8), dtype, 2),
            "normalizedShape": [8],
            "rstd": abs(numbers((2, 3, 1), dtype, 3)),
            "mean": numbers((2, 3, 1), dtype, 4),
            "scale": numbers(inner, dtype, 5),
            "shift": numbers(inner, dtype, 6),
            "weightOptional": numbers((8,), factor, 7) if factor else None,
            "biasOptional": numbers((8,), factor, 8) if factor else None,
            "gradInputOut": numbers((2, 3, 8), dtype, 9),
            "gradScaleOut": numbers(inner, dtype, 10),
            "gradShiftOut": numbers(inner, dtype, 11) if factor else None,
            "gradWeightOut": numbers((8,), factor, 12) if factor else None,
            "gradBiasOut": numbers((8,), factor, 13) if factor else None,
        }
