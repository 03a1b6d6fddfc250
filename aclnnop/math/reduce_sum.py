"""aclnnReduceSum: sums along some dimensions."""

from typing import Annotated

from acl_emu.spec import Bool, DataType, In, IntArrayIn, Operand, Out, Plan, operator, require
from aclnnop.math.arithmetic import NUMBERS, unchanged
from aclnnop.math.reduction import NOT_310B, dtype_of_out, filled, reduced_axes, reduction_examples
from aclnnop.math.sums import summed


@operator(products=NOT_310B)
def aclnnReduceSum(
    self: Annotated[Operand, In(*NUMBERS)],
    dims: IntArrayIn,
    keepDims: Bool,
    dtype: DataType,
    out: Annotated[Operand, Out(*NUMBERS)],
) -> Plan:
    """Add up the elements of every slice along ``dims``, converted to ``dtype`` first."""
    axes = reduced_axes(dims, self, "dims")
    dtype_of_out(dtype, NUMBERS, out)
    require(0 not in self.shape or out.dtype.kind != "complex", f"out has dtype {out.dtype}, expected no complex type where self is empty")
    if 0 in self.shape:  # whatever the shape of out is
        return filled((out,), 0.0)
    return summed(unchanged, self, axes, keepDims, out)


aclnnReduceSum.example(lambda: reduction_examples(aclnnReduceSum))
