"""aclnnSoftMarginLoss: logistic loss of two classes, labelled 1 and -1."""

from typing import Annotated

from acl_emu.spec import ALL, Array, FloatIn, FloatOut, IntKind, Plan, Product, Reduction, operator
from aclnnop.loss.logistic import softplus
from aclnnop.loss.reduction import loss, pointwise_examples

AnyReduction = Annotated[int, IntKind(choices=Reduction, checked=False)]
"""Any other value is a sum."""


@operator(products=ALL - {Product.A310B})
def aclnnSoftMarginLoss(self: FloatIn, target: FloatIn, reduction: AnyReduction, out: FloatOut) -> Plan:
    """Take ``log(1 + exp(-target * self))``."""
    return loss(soft_margin, (self, target), out, reduction)


aclnnSoftMarginLoss.example(lambda: pointwise_examples(aclnnSoftMarginLoss, reduced=(1,)))


def soft_margin(x: Array, label: Array) -> Array:
    """The formula."""
    return softplus(-label * x)
