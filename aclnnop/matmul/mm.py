"""aclnnMm: the product of two matrices."""

from acl_emu.spec import ALL, Plan, Product, operator, promote
from aclnnop.matmul.cube import CubeMath, Matrix, MatrixOut, product, rounding


@operator(products=ALL - {Product.A310B})
def aclnnMm(self: Matrix, mat2: Matrix, out: MatrixOut, cubeMathType: CubeMath) -> Plan:
    """Multiply two matrices."""
    return product(self, mat2, out, rounding(cubeMathType, promote(self, mat2)))
