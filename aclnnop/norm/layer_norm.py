"""aclnnLayerNorm: rows with mean 0 and standard deviation 1, scaled and shifted; and its forms with other implementations."""

import enum
import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import constants as c
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.errors import AclnnInner
from acl_emu.core.soc import ALL
from acl_emu.runtime.tensor import IntArray, Shape
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    IntArrayIn,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.rows import normalised_rows
from aclnnop.norm.views import in_shapes, one_for_each_row

Rows = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8))]
Factor = Annotated[Operand | None, In(*FLOATS, rank=(1, 8), optional=True)]
Statistic = Annotated[Operand | None, Out(*FLOATS, optional=True)]

PRODUCTS = ALL - {Product.A310P}
LONGEST_ROW = 583705600
"""Elements of a row that the fast form takes."""


class ImplMode(enum.IntEnum):
    """How a device is to compute; only the first and the last are told apart here, by what they refuse."""

    HIGH_PRECISION = 0
    HIGH_PERFORMANCE = 1
    KEEP_FLOAT16 = 2


@operator(products=PRODUCTS)
def aclnnLayerNorm(
    input: Rows,
    normalizedShape: IntArrayIn,
    weightOptional: Factor,
    biasOptional: Factor,
    eps: Double,
    out: RowsOut,
    meanOutOptional: Statistic,
    rstdOutOptional: Statistic,
) -> Plan:
    """Normalise ``input`` over its last dimensions, those of ``normalizedShape``; multiply by the weight and add the bias."""
    return layer_norm(input, normalizedShape, weightOptional, biasOptional, eps, out, meanOutOptional, rstdOutOptional)


@operator(products=PRODUCTS)
def aclnnLayerNormWithImplMode(
    input: Rows,
    normalizedShape: IntArrayIn,
    weightOptional: Factor,
    biasOptional: Factor,
    eps: Double,
    out: RowsOut,
    meanOutOptional: Statistic,
    rstdOutOptional: Statistic,
    implMode: Annotated[int, IntKind("int32_t", choices=ImplMode)],
) -> Plan:
    """Normalise ``input`` over its last dimensions; every mode is computed in FLOAT."""
    for operand in filter(None, (input, weightOptional, biasOptional)):
        require(
            implMode != ImplMode.KEEP_FLOAT16 or operand.dtype is FLOAT16,
            f"{operand.name} has dtype {operand.dtype}, expected {FLOAT16} where implMode is {implMode}",
        )
    return layer_norm(input, normalizedShape, weightOptional, biasOptional, eps, out, meanOutOptional, rstdOutOptional)


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnFastLayerNorm(
    input: Rows,
    normalizedShape: IntArrayIn,
    weightOptional: Factor,
    biasOptional: Factor,
    eps: Double,
    out: RowsOut,
    meanOutOptional: Statistic,
    rstdOutOptional: Statistic,
) -> Plan:
    """Normalise ``input`` over its last dimensions."""
    kept = kept_shape(input, normalizedShape, weightOptional, biasOptional)
    same_shape(input, out)
    for statistic in filter(None, (meanOutOptional, rstdOutOptional)):
        shape_is(statistic, kept, "as input, with length 1 in the dimensions of normalizedShape")
    length = math.prod(normalizedShape.values)
    if length > LONGEST_ROW:
        raise AclnnInner(f"normalizedShape has {length} elements, expected at most {LONGEST_ROW}", c.ACLNN_ERR_INNER_NULLPTR)
    return layer_norm(input, normalizedShape, weightOptional, biasOptional, eps, out, meanOutOptional, rstdOutOptional)


def kept_shape(input: Operand, normalizedShape: IntArray, *factors: Operand | None) -> Shape:
    """The shape of a statistic: length 1 in the normalised dimensions, which have to be the last ones of ``input``."""
    shape = normalizedShape.values
    require(1 <= len(shape) <= 8, f"normalizedShape has {len(shape)} elements, expected 1 to 8")
    for factor in filter(None, factors):
        shape_is(factor, shape, "that of normalizedShape")
    require(
        len(shape) <= input.rank and input.shape[input.rank - len(shape) :] == shape,
        f"input has shape {list(input.shape)}, expected one that ends with normalizedShape: {list(shape)}",
    )
    return (*input.shape[: input.rank - len(shape)], *(1,) * len(shape))


def layer_norm(
    x: Operand,
    normalizedShape: IntArray,
    weight: Operand | None,
    bias: Operand | None,
    eps: float,
    out: Operand,
    mean: Operand | None,
    rstd: Operand | None,
) -> Plan:
    """The plan of all forms."""
    kept = kept_shape(x, normalizedShape, weight, bias)
    same_dtype(x, out)
    same_shape(x, out)
    shape = normalizedShape.values
    statistics = [(one_for_each_row(statistic, kept), kept) for statistic in (mean, rstd) if statistic is not None]
    return in_shapes(
        normalised_rows,
        reads=((x, x.shape), (weight, shape), (bias, shape)),
        writes=((out, x.shape), *statistics),
        axes=tuple(range(x.rank - len(shape), x.rank)),
        count=math.prod(shape),
        eps=eps,
        wanted=(True, mean is not None, rstd is not None),
    )


def layer_examples() -> Iterator[Example]:
    """Rows of one dimension and of two; with and without factors and statistics."""
    for dtype, factor, normalized, wanted in (
        (FLOAT, FLOAT, (8,), (True, True)),
        (FLOAT16, FLOAT16, (3, 8), (True, False)),
        (BF16, FLOAT, (8,), (False, True)),
        (FLOAT16, FLOAT16, (8,), (False, False)),
    ):
        kept = (2, *(1 if 3 in normalized else 3,), 1)
        weight: list[Array | None] = [
            numbers(normalized, factor, seed) if takes else None for seed, takes in zip((2, 3), wanted, strict=True)
        ]
        yield {
            "input": numbers((2, 3, 8), dtype, 1, 3),
            "normalizedShape": list(normalized),
            "weightOptional": weight[0],
            "biasOptional": weight[1],
            "eps": 1e-5,
            "out": numbers((2, 3, 8), dtype, 4),
            "meanOutOptional": numbers(kept, FLOAT, 5) if wanted[0] else None,
            "rstdOutOptional": numbers(kept, FLOAT, 6) if wanted[1] else None,
        }


aclnnLayerNorm.example(layer_examples)
aclnnFastLayerNorm.example(layer_examples)


@aclnnLayerNormWithImplMode.example
def examples_of_modes() -> Iterator[Example]:
    """Every mode."""
    for example, mode in zip(layer_examples(), (0, 2, 1, 2), strict=True):
        yield {**example, "implMode": mode}
