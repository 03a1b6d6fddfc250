"""aclnnStd: standard deviations along some dimensions."""

from acl_emu.spec import Bool, ConstInt, Plan, operator
from aclnnop.math.reduction import NOT_310B, deviation, reduction_examples
from aclnnop.math.spread import DimIn, FloatIn, FloatOut, spread


@operator(products=NOT_310B)
def aclnnStd(self: FloatIn, dim: DimIn, correction: ConstInt, keepdim: Bool, out: FloatOut) -> Plan:
    """Take the standard deviation of every slice along ``dim``; ``correction`` is subtracted from the number of elements."""
    return spread(deviation, self, dim, correction, keepdim, out)


aclnnStd.example(lambda: reduction_examples(aclnnStd, correction=(1, 0)))
