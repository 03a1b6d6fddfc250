"""aclnnQuantMatmulV2: the product of two matrices of integers, with a packed scale for each column."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT16, INT8, INT32, UINT64
from acl_emu.spec import Bool, Example, In, Operand, Out, Plan, Product, operator
from aclnnop.matmul.quant_matmul_v4 import example
from aclnnop.matmul.quant_product import Parameters, quant_product

Factor = Annotated[Operand, In(INT8, rank=(2, 3))]


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnQuantMatmulV2(
    x1: Factor,
    x2: Factor,
    bias: Annotated[Operand | None, In(INT32, rank=1, optional=True)],
    deqScale: Annotated[Operand, In(UINT64, rank=1)],
    adjX1: Bool,
    adjX2: Bool,
    out: Annotated[Operand, Out(FLOAT16, rank=(2, 3))],
) -> Plan:
    """Multiply matrices of integers; sums are exact, then scaled by column."""
    return quant_product(x1, x2, Parameters(deqScale, None, None, bias), (adjX1, adjX2), out)


@aclnnQuantMatmulV2.example
def examples() -> Iterator[Example]:
    """As of the fourth version."""
    one = example(token=False)
    names = {"deqScale": "scale", "adjX1": "transposeX1", "adjX2": "transposeX2"}
    yield {name: one[names.get(name, name)] for name in aclnnQuantMatmulV2.names}
