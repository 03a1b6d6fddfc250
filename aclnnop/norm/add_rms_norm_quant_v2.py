"""aclnnAddRmsNormQuantV2: as aclnnAddRmsNormQuant, with an offset of the rows and with the rows as they were before it."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Bool, Double, Example, Int, Operand, Out, Plan, Product, numbers, operator
from aclnnop.math.unary import FLOATS
from aclnnop.norm import add_rms_norm_quant as plain
from aclnnop.norm.add_rms_norm_quant import (
    HALVES,
    PRODUCTS,
    OptionalPoints,
    OptionalRows,
    OptionalScales,
    Rows,
    RowsOut,
    Scales,
    quantised_sum,
)
from aclnnop.norm.quantising import Quantised

OptionalOut = Annotated[Operand | None, Out(*FLOATS, rank=(1, 8), on=HALVES, optional=True)]


@operator(products=PRODUCTS)
def aclnnAddRmsNormQuantV2(
    x1: Rows,
    x2: Rows,
    gamma: Rows,
    scales1: Scales,
    scales2Optional: OptionalScales,
    zeroPoints1Optional: OptionalPoints,
    zeroPoints2Optional: OptionalPoints,
    betaOptional: OptionalRows,
    axis: Int,
    epsilon: Double,
    divMode: Bool,
    y1Out: Quantised,
    y2Out: Quantised,
    xOut: RowsOut,
    rmsNormOut: OptionalOut,
) -> Plan:
    """Add, divide by the root of the mean square, scale and shift; quantise with the first scales and, where given, the second."""
    points = (zeroPoints1Optional, zeroPoints2Optional)
    scales = (scales1, scales2Optional)
    return quantised_sum(x1, x2, gamma, betaOptional, scales, points, epsilon, divMode, (y1Out, y2Out), xOut, rmsNormOut)


def more(source: Iterator[Example]) -> Iterator[Example]:
    """With and without the new arguments."""
    for turn, example in enumerate(source):
        dtype = example["x1"].dtype
        yield {
            **example,
            "betaOptional": numbers((16,), dtype, 9) if turn % 2 == 0 else None,
            "rmsNormOut": numbers((2, 3, 16), dtype, 10) if turn != 1 else None,
        }


aclnnAddRmsNormQuantV2.example(lambda: more(plain.examples()))
aclnnAddRmsNormQuantV2.example_on(Product.A2, Product.A3, Product.A950)(lambda: more(plain.newer_examples()))
aclnnAddRmsNormQuantV2.example_on(Product.A950)(lambda: more(plain.newest_examples()))
