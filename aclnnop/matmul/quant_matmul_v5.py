"""aclnnQuantMatmulV5: the product of two matrices of few bits, with scales of all kinds."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import (
    BF16,
    FLOAT,
    FLOAT4_E2M1,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT8_E8M0,
    FLOAT16,
    HIFLOAT8,
    INT4,
    INT8,
    INT32,
    INT64,
    UINT64,
)
from acl_emu.spec import Bool, Example, In, Int, Operand, Out, Plan, Product, between, numbers, operator
from aclnnop.matmul.cube import BLOCKED
from aclnnop.matmul.quant_matmul_v4 import PRODUCTS
from aclnnop.matmul.scaled_product import Given, scaled_product

NARROW = (INT8, INT4, FLOAT8_E4M3FN, FLOAT8_E5M2, HIFLOAT8, FLOAT4_E2M1)
_FACTORS = {Product.A950: NARROW, Product.A310P: (INT8,)}
_SCALES = (UINT64, INT64, FLOAT, BF16)

X1 = Annotated[Operand, In(INT8, INT4, INT32, rank=(2, 6), on=_FACTORS)]
X2 = Annotated[Operand, In(INT8, INT4, INT32, rank=(2, 6), formats=BLOCKED, on=_FACTORS)]
X1Scale = Annotated[Operand | None, In(FLOAT, rank=(1, 7), optional=True, on={Product.A950: (FLOAT, FLOAT8_E8M0)})]
X2Scale = Annotated[Operand, In(*_SCALES, rank=(1, 7), on={Product.A950: (*_SCALES, FLOAT8_E8M0, FLOAT16)})]
YScale = Annotated[Operand | None, In(UINT64, INT64, rank=2, optional=True)]
Unused = Annotated[Operand | None, In(optional=True)]
X2Offset = Annotated[Operand | None, In(FLOAT16, FLOAT, rank=(1, 2), optional=True)]
YOffset = Annotated[Operand | None, In(optional=True)]
"""An empty one of any type stands for null, else FLOAT."""
Bias = Annotated[Operand | None, In(INT32, FLOAT, BF16, FLOAT16, rank=(1, 3), optional=True)]
Result = Annotated[Operand, Out(FLOAT16, INT8, BF16, INT32, FLOAT, rank=(2, 6))]


@operator(products=PRODUCTS)
def aclnnQuantMatmulV5(
    x1: X1,
    x2: X2,
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
    """Multiply matrices of few bits, with scales for rows, columns, groups of terms or blocks."""
    given = Given(x1Scale, x2Scale, yScale, x1Offset, x2Offset, yOffset, as_row(bias, out))
    return scaled_product(x1, x2, given, (transposeX1, transposeX2), groupSize, out)


def as_row(bias: Operand | None, out: Operand) -> Operand | None:
    """On the newest chips a bias may be a matrix of one row, but not for results of three dimensions."""
    matrix = bias is not None and bias.rank == 2 and bias.shape[0] == 1 and out.rank != 3
    if bias is None or not matrix or soc.current().product is not Product.A950:
        return bias
    return bias.in_view(bias.shape[1:], bias.view.strides[1:])


def example() -> Example:
    """A call that all chips take."""
    return {
        "x1": numbers((5, 32), INT8, 1, 40),
        "x2": numbers((32, 32), INT8, 2, 40),
        "x1Scale": between(0.5, 2, (5,), FLOAT, 3),
        "x2Scale": between(0.001, 0.01, (32,), FLOAT, 4),
        "yScale": None,
        "x1Offset": None,
        "x2Offset": None,
        "yOffset": None,
        "bias": numbers((32,), INT32, 5, 1000),
        "transposeX1": False,
        "transposeX2": False,
        "groupSize": 0,
        "out": numbers((5, 32), FLOAT16, 6),
    }


@aclnnQuantMatmulV5.example
def examples() -> Iterator[Example]:
    """Integers."""
    yield example()
