"""aclnnQuantMatmulWeightNz: aclnnQuantMatmulV5 with a weight in blocks."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT, FLOAT4_E2M1, FLOAT8_E4M3FN, HIFLOAT8, INT4, INT8, INT32
from acl_emu.spec import Bool, Example, In, Int, Operand, Plan, Product, operator
from aclnnop.matmul.cube import IN_BLOCKS
from aclnnop.matmul.quant_matmul_v4 import PRODUCTS
from aclnnop.matmul.quant_matmul_v5 import Bias, Result, Unused, X1Scale, X2Offset, X2Scale, YOffset, YScale, example
from aclnnop.matmul.quant_product import FOURS_IN_BLOCKS
from aclnnop.matmul.scaled_product import Given, scaled_product

_LEFT = {Product.A950: (INT8, HIFLOAT8, FLOAT8_E4M3FN, FLOAT4_E2M1), Product.A310P: (INT8,)}
_RIGHT = {Product.A950: (INT8, HIFLOAT8, FLOAT4_E2M1, FLOAT, FLOAT8_E4M3FN), Product.A310P: (INT8,)}


@operator(products=PRODUCTS)
def aclnnQuantMatmulWeightNz(
    x1: Annotated[Operand, In(INT8, INT4, rank=(2, 6), on=_LEFT)],
    x2: Annotated[Operand, In(INT8, INT4, INT32, rank=(2, 6), formats=IN_BLOCKS, on=_RIGHT)],
    x1Scale: X1Scale,
    x2Scale: X2Scale,
    yScale: YScale,
    x1Offset: Unused,
    x2Offset: X2Offset,
    yOffset: YOffset,
    bias: Bias,
    transposeX1: Bool,
    transposeX2: Bool,
    groupSize: Int,
    out: Result,
) -> Plan:
    """Multiply a matrix of few bits by a weight in blocks, with scales for rows, columns or groups of terms."""
    given = Given(x1Scale, x2Scale, yScale, x1Offset, x2Offset, yOffset, bias)
    return scaled_product(x1, x2, given, (transposeX1, transposeX2), groupSize, out, FOURS_IN_BLOCKS)


@aclnnQuantMatmulWeightNz.example
def examples() -> Iterator[Example]:
    """Whole blocks."""
    yield example()
