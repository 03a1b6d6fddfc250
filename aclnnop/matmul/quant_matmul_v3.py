"""aclnnQuantMatmulV3: the product of two matrices of integers, with scales for columns of the result."""

from collections.abc import Iterator

from acl_emu.spec import Bool, Example, Plan, operator
from aclnnop.matmul.quant_matmul_v4 import PRODUCTS, X1, X2, Bias, Offset, Result, Scale, example
from aclnnop.matmul.quant_product import Parameters, quant_product


@operator(products=PRODUCTS)
def aclnnQuantMatmulV3(x1: X1, x2: X2, scale: Scale, offset: Offset, bias: Bias, transposeX1: Bool, transposeX2: Bool, out: Result) -> Plan:
    """Multiply matrices of integers; sums are exact, then scaled by column."""
    return quant_product(x1, x2, Parameters(scale, offset, None, bias), (transposeX1, transposeX2), out)


@aclnnQuantMatmulV3.example
def examples() -> Iterator[Example]:
    """As of the fourth version, without scales for rows."""
    yield {name: value for name, value in example(token=False).items() if name != "pertokenScaleOptional"}
