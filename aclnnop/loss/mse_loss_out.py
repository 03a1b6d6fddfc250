"""aclnnMseLossOut: the mean squared error, reduced along the first axis only."""

from acl_emu.spec import ALL, FloatIn, FloatOut, Plan, Product, ReductionMode, operator
from aclnnop.loss.distance import squared_error
from aclnnop.loss.reduction import loss, pointwise_examples


@operator(products=ALL - {Product.A310B})
def aclnnMseLossOut(self: FloatIn, target: FloatIn, reduction: ReductionMode, out: FloatOut) -> Plan:
    """Square ``self - target``, and reduce its first axis."""
    return loss(squared_error, (self, target), out, reduction, first_axis=True)


aclnnMseLossOut.example(lambda: pointwise_examples(aclnnMseLossOut, first_axis=True))
