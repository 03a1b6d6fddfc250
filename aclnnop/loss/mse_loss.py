"""aclnnMseLoss: squared difference of each pair of elements."""

from acl_emu.spec import ALL, FloatIn, FloatOut, Plan, Product, ReductionMode, operator
from aclnnop.loss.distance import squared_error
from aclnnop.loss.reduction import loss, pointwise_examples


@operator(products=ALL - {Product.A310B})
def aclnnMseLoss(self: FloatIn, target: FloatIn, reduction: ReductionMode, out: FloatOut) -> Plan:
    """Square ``self - target``, and reduce all of it."""
    return loss(squared_error, (self, target), out, reduction)


aclnnMseLoss.example(lambda: pointwise_examples(aclnnMseLoss, reduced=()))
