"""aclnnGemm: a matrix plus the product of two, any of which may be transposed."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import ALL, Example, Float, In, Int, Operand, Plan, Product, broadcasts_to, numbers, operator, promote
from aclnnop.matmul.cube import CubeMath, Matrix, MatrixOut, product, product_shape, rounding, without_precise_sums

Added = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2)]


@operator(products=ALL - {Product.A310B})
def aclnnGemm(
    A: Matrix, B: Matrix, C: Added, alpha: Float, beta: Float, transA: Int, transB: Int, out: MatrixOut, cubeMathType: CubeMath
) -> Plan:
    """Add ``beta × C`` to ``alpha`` times the product of two matrices, transposed where that is asked for."""
    taken = rounding(cubeMathType, promote(A, B, C))
    without_precise_sums(cubeMathType)
    left, right = A.transposed() if transA else A, B.transposed() if transB else B
    broadcasts_to(product_shape(left, right), "that of A @ B", C)
    return product(left, right, out, taken, C, alpha, beta)


@aclnnGemm.example
def examples() -> Iterator[Example]:
    """Either matrix transposed, and none."""
    for dtype, flags in ((FLOAT, (0, 0)), (FLOAT16, (1, 0)), (BF16, (0, 5))):
        yield {
            "A": numbers((40, 7) if flags[0] else (7, 40), dtype, 1),
            "B": numbers((9, 40) if flags[1] else (40, 9), dtype, 2),
            "C": numbers((1, 9), dtype, 3),
            "alpha": 0.5,
            "beta": 2.0,
            "transA": flags[0],
            "transB": flags[1],
            "out": numbers((7, 9), dtype, 4),
            "cubeMathType": 1,
        }
