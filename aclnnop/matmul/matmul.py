"""aclnnMatmul: products of vectors, matrices and batches of matrices."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine.matmul import Taken
from acl_emu.spec import ALL, Example, In, Operand, Out, Plan, Product, numbers, operator, promote, require
from aclnnop.matmul.cube import ND, CubeMath, product, rounding

Stack = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 6), formats=ND)]
StackOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=(0, 6), formats=ND)]


@operator(products=ALL - {Product.A310B})
def aclnnMatmul(self: Stack, mat2: Stack, out: StackOut, cubeMathType: CubeMath) -> Plan:
    """Multiply vectors or matrices, batch by batch."""
    require(
        self.dtype is mat2.dtype or BF16 not in (self.dtype, mat2.dtype) or soc.current().product not in (Product.A2, Product.A3),
        f"mat2 has dtype {mat2.dtype}, which cannot be combined with that of self: {self.dtype} on {soc.current().name}",
    )
    dtype = promote(self, mat2)
    # Of two vectors the matrix unit does not see anything.
    taken = Taken.UNCHANGED if self.rank == mat2.rank == 1 else rounding(cubeMathType, dtype)
    return product(self, mat2, out, taken)


@aclnnMatmul.example
def examples() -> Iterator[Example]:
    """Stacks that broadcast, a vector, and matrices of several blocks."""
    for a, b, shape, dtype, out in (
        ((2, 1, 3, 40), (4, 40, 5), (2, 4, 3, 5), FLOAT, FLOAT),
        ((40,), (40, 5), (5,), FLOAT16, FLOAT),
        ((300, 200), (200, 280), (300, 280), BF16, BF16),
    ):
        yield {"self": numbers(a, dtype, 1), "mat2": numbers(b, dtype, 2), "out": numbers(shape, out, 3), "cubeMathType": 1}
