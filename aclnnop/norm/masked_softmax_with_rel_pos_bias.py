"""aclnnMaskedSoftmaxWithRelPosBias: softmax of attention scores in windows, with a mask of each window and a bias of each head."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import (
    ALL,
    Array,
    Double,
    Example,
    In,
    Int,
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
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.along_axis import softmax
from aclnnop.math.unary import FLOATS
from aclnnop.norm.views import in_shapes

ALIGNED = 32
"""Bytes that 310P wants a row to be a multiple of."""


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnMaskedSoftmaxWithRelPosBias(
    x: Annotated[Operand, In(*FLOATS, rank=(4, 5))],
    attenMaskOptional: Annotated[Operand | None, In(*FLOATS, rank=(3, 5), optional=True)],
    relativePosBias: Annotated[Operand, In(*FLOATS, rank=(3, 5))],
    scaleValue: Double,
    innerPrecisionMode: Int,
    out: Annotated[Operand, Out(*FLOATS, rank=(4, 5), const=True)],
) -> Plan:
    """Take the softmax of ``scaleValue * x`` plus mask and bias along the last axis."""
    same_dtype(x, attenMaskOptional, relativePosBias, out)
    rank_in(out, 4, 5)
    mask, bias = attenMaskOptional, relativePosBias
    with in_tiling():
        require(math.isfinite(scaleValue), f"scaleValue is {scaleValue}, expected a finite number")
        require(innerPrecisionMode == 0, f"innerPrecisionMode is {innerPrecisionMode}, expected 0")
        same_shape(x, out)
        *lead, heads, rows, columns = x.shape
        length = columns * x.dtype.storage.itemsize
        odd = soc.current().product is Product.A310P and length % ALIGNED
        require(not odd, f"x has rows of {length} bytes, expected a multiple of {ALIGNED} on {soc.current().name}")
        of_bias = (heads, rows, columns)
        require(
            bias.shape in padded(of_bias), f"relativePosBias has shape {list(bias.shape)}, expected {list(of_bias)} behind lengths of 1"
        )
        windows = 1
        if mask is not None:
            windows = mask.shape[0] if mask.rank < 5 else mask.shape[1]
            forms = ((windows, rows, columns), (windows, 1, rows, columns), (1, windows, 1, rows, columns))
            require(
                mask.shape in forms, f"attenMaskOptional has shape {list(mask.shape)}, expected one of {[list(form) for form in forms]}"
            )
        if len(lead) == 2:
            require(mask is None or windows == lead[1], f"attenMaskOptional has {windows} windows, expected those of x: {lead[1]}")
            batch, windows = lead
        else:
            require(windows > 0 and lead[0] % windows == 0, f"attenMaskOptional has {windows} windows, expected a divisor of {lead[0]}")
            batch = lead[0] // windows
    shape = (batch, windows, heads, rows, columns)
    return in_shapes(
        biased_softmax,
        reads=((x, shape), (mask, (1, windows, 1, rows, columns)), (bias, (1, 1, *of_bias))),
        writes=((out, shape),),
        scale=scaleValue,
    )


def padded(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """With up to two lengths of 1 in front."""
    return [(*(1,) * count, *shape) for count in range(3)]


def biased_softmax(x: Array, mask: Array | None, bias: Array, *, scale: float) -> tuple[Array]:
    """The formula."""
    scores = x * scale + bias
    return (softmax(scores if mask is None else scores + mask, axis=-1),)


@aclnnMaskedSoftmaxWithRelPosBias.example
def examples() -> Iterator[Example]:
    """Windows of their own and joined with the batch, with and without a mask."""
    for dtype, x, mask, bias in zip(
        FLOATS,
        ((2, 3, 2, 4, 16), (6, 2, 4, 16), (6, 2, 4, 16)),
        ((3, 4, 16), (3, 1, 4, 16), None),
        ((2, 4, 16), (1, 1, 2, 4, 16), (1, 2, 4, 16)),
        strict=True,
    ):
        yield {
            "x": numbers(x, dtype, 1),
            "attenMaskOptional": None if mask is None else numbers(mask, dtype, 2),
            "relativePosBias": numbers(bias, dtype, 3),
            "scaleValue": 0.3,
            "innerPrecisionMode": 0,
            "out": numbers(x, dtype, 4),
        }
    yield {
        "x": numbers((2, 3, 2, 4, 16), FLOAT, 1),
        "attenMaskOptional": numbers((1, 3, 1, 4, 16), FLOAT, 2),
        "relativePosBias": numbers((2, 4, 16), FLOAT, 3),
        "scaleValue": 1.0,
        "innerPrecisionMode": 0,
        "out": numbers((2, 3, 2, 4, 16), FLOAT, 4),
    }
