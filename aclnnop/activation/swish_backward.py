"""aclnnSwishBackward: the gradient of aclnnSwish."""

from typing import Any

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.curves import swish_slope
from aclnnop.activation.pointwise import OptionalReal, pointwise
from aclnnop.activation.swish import SETTINGS
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, products=ALL - {Product.A310B}, out="gradInput", settings=SETTINGS)
def aclnnSwishBackward(gradOutput: Array, self: Array, betaOptional: OptionalReal) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnSwish at ``self``."""
    return gradOutput * swish_slope(self, 1.0 if betaOptional is None else betaOptional)
