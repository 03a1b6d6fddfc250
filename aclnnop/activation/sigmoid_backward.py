"""aclnnSigmoidBackward: the gradient of aclnnSigmoid, given its output."""

from typing import Any

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.pointwise import broadcast, pointwise, promoted
from aclnnop.math.unary import FLOATING


@pointwise(*FLOATING, rule=promoted, shapes=broadcast, products=ALL - {Product.A310B}, out="gradInput")
def aclnnSigmoidBackward(gradOutput: Array, output: Array) -> Any:
    """Scale ``gradOutput`` by the slope of the logistic function where it is ``output``."""
    return gradOutput * output * (1 - output)
