"""aclnnMm: the product of two matrices."""

from collections.abc import Iterator

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import ALL, Example, Plan, Product, numbers, operator, promote
from aclnnop.matmul.cube import CubeMath, Matrix, MatrixOut, Weight, product, rounding


@operator(products=ALL - {Product.A310B})
def aclnnMm(self: Matrix, mat2: Weight, out: MatrixOut, cubeMathType: CubeMath) -> Plan:
    """Multiply two matrices."""
    return product(self, mat2, out, rounding(cubeMathType, promote(self, mat2)))


@aclnnMm.example
def examples() -> Iterator[Example]:
    """Mixed types, and one."""
    for a, b, out in ((FLOAT, FLOAT16, FLOAT), (FLOAT16, FLOAT16, FLOAT16)):
        yield {"self": numbers((7, 40), a, 1), "mat2": numbers((40, 9), b, 2), "out": numbers((7, 9), out, 3), "cubeMathType": 1}
