"""aclnnLinalgVectorNorm: vector norms along some dimensions."""

from typing import Annotated

from acl_emu.spec import ALL, Bool, DataTypeKind, FloatIn, FloatOut, IntArrayIn, Plan, Product, ScalarIn, operator
from aclnnop.math.reduction import FLOATS, dtype_of_out, norm, reduced, reduced_axes, reduction_examples


@operator(products=ALL - {Product.A310P})
def aclnnLinalgVectorNorm(
    self: FloatIn,
    ord: ScalarIn,
    dims: IntArrayIn,
    keepDims: Bool,
    dtype: Annotated[int, DataTypeKind("const aclDataType")],
    out: FloatOut,
) -> Plan:
    """Take the norm of order ``ord`` of every slice along ``dims``, converted to ``dtype`` first; that of nothing is 0."""
    axes = reduced_axes(dims, self, "dims")
    computed = dtype_of_out(dtype, FLOATS, out)
    return reduced(norm, self, axes, keepDims, out, dtype=computed, of_none=0.0, order=ord.as_real())


aclnnLinalgVectorNorm.example(lambda: reduction_examples(aclnnLinalgVectorNorm, ord=(2.0, 0.0)))
