"""aclnnLogSumExp: logarithms of sums of exponentials along some dimensions."""

from typing import Annotated

from acl_emu.core.dtypes import BOOL, FLOAT, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Bool, In, IntArrayIn, Operand, Out, Plan, castable, operator
from aclnnop.math.reduction import FLOATS, NOT_310B, log_sum_exp, reduced, reduced_axes, reduction_examples


@operator(products=NOT_310B)
def aclnnLogSumExp(
    self: Annotated[Operand, In(*FLOATS, INT32, INT64, INT16, INT8, UINT8, BOOL)],
    dim: IntArrayIn,
    keepDim: Bool,
    out: Annotated[Operand, Out(*FLOATS)],
) -> Plan:
    """Take the logarithm of the sum of exponentials of every slice along ``dim``; integers are taken as FLOAT."""
    via = self.dtype if self.dtype.kind == "float" else FLOAT
    castable(via, out)
    return reduced(log_sum_exp, self, reduced_axes(dim, self, "dim"), keepDim, out, dtype=via, of_none=float("-inf"))


aclnnLogSumExp.example(lambda: reduction_examples(aclnnLogSumExp))
