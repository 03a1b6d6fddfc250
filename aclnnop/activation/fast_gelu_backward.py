"""aclnnFastGeluBackward: the gradient of aclnnFastGelu."""

from typing import Any

from acl_emu.spec import Array
from aclnnop.activation.curves import swish_slope
from aclnnop.activation.fast_gelu import SLOPE
from aclnnop.activation.pointwise import NEWER, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, products=NEWER, out="gradInput")
def aclnnFastGeluBackward(gradOutput: Array, self: Array) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnFastGelu at ``self``."""
    return gradOutput * swish_slope(self, SLOPE)
