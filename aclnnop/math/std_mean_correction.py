"""aclnnStdMeanCorrection: standard deviations and means along some dimensions."""

from acl_emu.spec import Bool, Int, Plan, Product, operator
from aclnnop.math.reduction import NEWER, deviation, reduction_examples
from aclnnop.math.spread import DimIn, FloatIn, FloatOut, spread


@operator(products=NEWER | {Product.A910})
def aclnnStdMeanCorrection(self: FloatIn, dim: DimIn, correction: Int, keepdim: Bool, stdOut: FloatOut, meanOut: FloatOut) -> Plan:
    """Take the deviation and the mean of every slice along ``dim``; ``correction`` is subtracted from the number of elements."""
    return spread(deviation, self, dim, correction, keepdim, stdOut, meanOut)


aclnnStdMeanCorrection.example(lambda: reduction_examples(aclnnStdMeanCorrection, correction=(1, 0)))
