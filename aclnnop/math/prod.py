"""aclnnProd and aclnnProdDim: products of all elements, or along a dimension."""

from typing import Annotated

from acl_emu.core.dtypes import BOOL
from acl_emu.spec import Bool, DataTypeKind, In, Int, Operand, Out, Plan, operator, require, wrap_dim
from aclnnop.math.reduction import NOT_310B, NUMBERS, convertible, dtype_of_out, product, reduced, reduction_examples

TYPES = (*NUMBERS, BOOL)
NumberIn = Annotated[Operand, In(*TYPES)]
NumberOut = Annotated[Operand, Out(*TYPES)]
ConstDataType = Annotated[int, DataTypeKind("const aclDataType")]


@operator(products=NOT_310B)
def aclnnProd(self: NumberIn, dtype: ConstDataType, out: NumberOut) -> Plan:
    """Multiply all elements, converted to ``dtype`` first."""
    return multiplied(self, tuple(range(self.rank)), False, dtype, out)


aclnnProd.example(lambda: reduction_examples(aclnnProd))


@operator(products=NOT_310B)
def aclnnProdDim(self: NumberIn, dim: Int, keepDim: Bool, dtype: ConstDataType, out: NumberOut) -> Plan:
    """Multiply the elements of every slice along ``dim``, converted to ``dtype`` first."""
    return multiplied(self, (wrap_dim(dim, self),), keepDim, dtype, out)


aclnnProdDim.example(lambda: reduction_examples(aclnnProdDim))


def multiplied(self: Operand, axes: tuple[int, ...], keep: bool, code: int, out: Operand) -> Plan:
    """The product of nothing is 1."""
    dtype = dtype_of_out(code, TYPES, out)
    convertible(self, dtype)
    require(0 not in self.shape or dtype.kind != "complex", f"out has dtype {dtype}, expected no complex type where self is empty")
    return reduced(product, self, axes, keep, out, dtype=dtype, of_none=1.0)
