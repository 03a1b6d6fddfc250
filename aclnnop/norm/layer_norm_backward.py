"""aclnnLayerNormBackward: gradients of layer normalisation with respect to its input, weight and bias."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    ALL,
    BoolArrayIn,
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
    same_dtype,
    same_shape,
    shape_is,
    together,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.layer_norm import Factor, Rows, kept_shape
from aclnnop.norm.rows import MASK_CHECKS, factor_gradients, input_gradient, masked
from aclnnop.norm.views import in_shapes

Gradient = Annotated[Operand | None, Out(*FLOATS, rank=(1, 8), optional=True)]
Statistic = Annotated[Operand, In(*FLOATS, rank=(1, 8))]


@operator(products=ALL - {Product.A310B}, checks=MASK_CHECKS)
def aclnnLayerNormBackward(
    gradOut: Rows,
    input: Rows,
    normalizedShape: IntArrayIn,
    mean: Statistic,
    rstd: Statistic,
    weightOptional: Factor,
    biasOptional: Factor,
    outputMask: BoolArrayIn,
    gradInputOut: Gradient,
    gradWeightOut: Gradient,
    gradBiasOut: Gradient,
) -> Plan:
    """Give those gradients that ``outputMask`` asks for."""
    same_shape(input, gradOut)
    kept = kept_shape(input, normalizedShape, weightOptional, biasOptional)
    rows = math.prod(kept)
    length_is(mean, rows, "one for each row of input")
    length_is(rstd, rows, "one for each row of input")
    to_input, *to_factors = masked(outputMask, gradInputOut, gradWeightOut, gradBiasOut)
    same_dtype(input, gradOut, to_input)
    if to_input is not None:
        same_shape(input, to_input)
    shape, whole = normalizedShape.values, input.shape
    for gradient in filter(None, to_factors):
        shape_is(gradient, shape, "that of normalizedShape")
    split = input.rank - len(shape)
    reads = ((gradOut, whole), (input, whole), (mean, kept), (rstd, kept))
    plans = []
    if to_input is not None:
        axes = tuple(range(split, input.rank))
        of_weight = (weightOptional, shape)
        plans.append(in_shapes(input_gradient, reads=(*reads, of_weight), writes=((to_input, whole),), axes=axes, count=math.prod(shape)))
    if any(to_factors):
        plans.append(
            in_shapes(
                factor_gradients,
                reads=reads,
                writes=[(gradient, shape) for gradient in to_factors if gradient is not None],
                axes=tuple(range(split)),
                wanted=tuple(gradient is not None for gradient in to_factors),
            )
        )
    return together(plans)


@aclnnLayerNormBackward.example
def examples() -> Iterator[Example]:
    """Rows of one dimension and of two; all gradients, and some of them."""
    for dtype, factor, normalized, mask in (
        (FLOAT, FLOAT, (8,), (True, True, True)),
        (FLOAT16, FLOAT16, (3, 8), (True, False, True)),
        (BF16, FLOAT, (8,), (False, True, True)),
        (FLOAT, FLOAT, (2, 3, 8), (True, True, False)),
    ):
        kept = (*(2, 3, 8)[: 3 - len(normalized)], *(1,) * len(normalized))
        gradients = ((2, 3, 8), dtype), (normalized, factor), (normalized, factor)
        names = ("gradInputOut", "gradWeightOut", "gradBiasOut")
        yield {
            "gradOut": numbers((2, 3, 8), dtype, 1),
            "input": numbers((2, 3, 8), dtype, 2, 3),
            "normalizedShape": list(normalized),
            "mean": numbers(kept, factor, 3),
            "rstd": abs(numbers(kept, factor, 4)),
            "weightOptional": numbers(normalized, factor, 5) if dtype is not BF16 else None,
            "biasOptional": numbers(normalized, factor, 6) if dtype is FLOAT else None,
            "outputMask": list(mask),
            **{name: numbers(*gradient, 7) if wanted else None for name, gradient, wanted in zip(names, gradients, mask, strict=True)},
        }
