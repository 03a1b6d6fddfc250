"""aclnnMseLossBackward: gradient of the mean squared error with respect to ``self``."""

from acl_emu.spec import ALL, Array, FloatIn, FloatOut, Plan, Product, ReductionMode, operator, same_dtype
from aclnnop.loss.reduction import gradient, pointwise_examples


@operator(products=ALL - {Product.A310B, Product.A910})
def aclnnMseLossBackward(gradOutput: FloatIn, self: FloatIn, target: FloatIn, reduction: ReductionMode, out: FloatOut) -> Plan:
    """Scale ``gradOutput`` by twice ``self - target``."""
    same_dtype(self, gradOutput, target)
    return gradient(error, (gradOutput, self, target), out, reduction, factor=2.0)


aclnnMseLossBackward.example(lambda: pointwise_examples(aclnnMseLossBackward))


def error(x: Array, y: Array) -> Array:
    """Half the slope of the square."""
    return x - y
