"""aclnnVarMean: variances and means along some dimensions."""

from acl_emu.spec import Bool, Int, Plan, Product, operator
from aclnnop.math.reduction import NEWER, reduction_examples, variance
from aclnnop.math.spread import DimIn, FloatIn, FloatOut, spread


@operator(products=NEWER | {Product.A910})
def aclnnVarMean(self: FloatIn, dim: DimIn, correction: Int, keepdim: Bool, varOut: FloatOut, meanOut: FloatOut) -> Plan:
    """Take the variance and the mean of every slice along ``dim``; ``correction`` is subtracted from the number of elements."""
    return spread(variance, self, dim, correction, keepdim, varOut, meanOut)


aclnnVarMean.example(lambda: reduction_examples(aclnnVarMean, correction=(1, 0)))
