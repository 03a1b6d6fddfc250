"""aclnnVar and aclnnVarCorrection: variances along some dimensions."""

from acl_emu.spec import Bool, Int, Plan, Product, operator
from aclnnop.math.reduction import NEWER, NOT_310B, reduction_examples, variance
from aclnnop.math.spread import DimIn, FloatIn, FloatOut, spread


@operator(products=NEWER | {Product.A910})
def aclnnVar(self: FloatIn, dim: DimIn, unbiased: Bool, keepdim: Bool, out: FloatOut) -> Plan:
    """Take the variance of every slice along ``dim``; one less than the elements are counted where it is ``unbiased``."""
    return spread(variance, self, dim, int(unbiased), keepdim, out)


aclnnVar.example(lambda: reduction_examples(aclnnVar, unbiased=(True, False)))


@operator(products=NOT_310B)
def aclnnVarCorrection(self: FloatIn, dim: DimIn, correction: Int, keepdim: Bool, out: FloatOut) -> Plan:
    """Take the variance of every slice along ``dim``; ``correction`` is subtracted from the number of elements."""
    return spread(variance, self, dim, correction, keepdim, out)


aclnnVarCorrection.example(lambda: reduction_examples(aclnnVarCorrection, correction=(1, 0)))
