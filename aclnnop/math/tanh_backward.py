"""aclnnTanhBackward: the gradient of aclnnTanh, given its output."""

from typing import Any

from acl_emu.core.dtypes import DOUBLE
from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.pointwise import broadcast, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, DOUBLE, shapes=broadcast, products=ALL - {Product.A310B}, out="gradInput")
def aclnnTanhBackward(gradOutput: Array, output: Array) -> Any:
    """Scale ``gradOutput`` by the slope of the hyperbolic tangent where it is ``output``."""
    return gradOutput * ((1 - output) * (1 + output))
