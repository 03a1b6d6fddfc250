"""aclnnMv: the product of a matrix and a vector."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Example, In, Operand, Out, Plan, Product, numbers, operator, same_dtype
from aclnnop.matmul.cube import CubeMath, Matrix, product, rounding

Vector = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=1)]
VectorOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=1)]


@operator(products=ALL - {Product.A310B})
def aclnnMv(self: Matrix, vec: Vector, out: VectorOut, cubeMathType: CubeMath) -> Plan:
    """Multiply a matrix by a vector."""
    same_dtype(self, vec, out)
    return product(self, vec, out, rounding(cubeMathType, self.dtype))


@aclnnMv.example
def examples() -> Iterator[Example]:
    """All types."""
    for dtype in (FLOAT, FLOAT16, BF16):
        yield {"self": numbers((7, 40), dtype, 1), "vec": numbers((40,), dtype, 2), "out": numbers((7,), dtype, 3), "cubeMathType": 1}
