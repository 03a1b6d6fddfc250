"""aclnnQuantMatmulV4: the product of two matrices of integers, with scales for rows and columns of the result."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT4, INT8, INT32, INT64, UINT64
from acl_emu.spec import Bool, Example, In, Operand, Out, Plan, Product, between, numbers, operator
from aclnnop.matmul.cube import BLOCKED
from aclnnop.matmul.quant_product import Parameters, quant_product

PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2, Product.A310P})
_EIGHT = {Product.A310P: (INT8,), Product.A950: (INT8, INT4)}

X1 = Annotated[Operand, In(INT8, INT32, INT4, rank=(2, 6), on=_EIGHT)]
X2 = Annotated[Operand, In(INT8, INT32, INT4, rank=(2, 6), formats=BLOCKED, on=_EIGHT)]
Scale = Annotated[Operand, In(UINT64, INT64, FLOAT, BF16, rank=1)]
Offset = Annotated[Operand | None, In(FLOAT, rank=1, optional=True)]
Token = Annotated[Operand | None, In(FLOAT, rank=1, optional=True)]
Bias = Annotated[Operand | None, In(INT32, BF16, FLOAT16, FLOAT, rank=(1, 3), optional=True, on={Product.A310P: (INT32,)})]
Result = Annotated[Operand, Out(FLOAT16, INT8, BF16, INT32, rank=(2, 6), const=True, on={Product.A310P: (FLOAT16, INT8)})]


@operator(products=PRODUCTS)
def aclnnQuantMatmulV4(
    x1: X1,
    x2: X2,
    scale: Scale,
    offset: Offset,
    pertokenScaleOptional: Token,
    bias: Bias,
    transposeX1: Bool,
    transposeX2: Bool,
    out: Result,
) -> Plan:
    """Multiply matrices of integers; sums are exact, then scaled by column and by row."""
    return quant_product(x1, x2, Parameters(scale, offset, pertokenScaleOptional, bias), (transposeX1, transposeX2), out)


def example(token: bool) -> Example:
    """A call that all chips take."""
    return {
        "x1": numbers((5, 32), INT8, 1, 40),
        "x2": numbers((32, 16), INT8, 2, 40),
        "scale": between(0.001, 0.01, (16,), FLOAT, 3) if token else between(0x30000000, 0x38000000, (16,), UINT64, 3),
        "offset": None,
        "pertokenScaleOptional": between(0.5, 2, (5,), FLOAT, 4) if token else None,
        "bias": numbers((16,), INT32, 5, 1000),
        "transposeX1": False,
        "transposeX2": False,
        "out": numbers((5, 16), FLOAT16, 6),
    }


@aclnnQuantMatmulV4.example
def examples() -> Iterator[Example]:
    """Scales for columns, and for rows and columns."""
    yield example(token=False)
    yield example(token=True)
