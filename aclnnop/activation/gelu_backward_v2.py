"""aclnnGeluBackwardV2: the gradient of the Gaussian error linear unit, by the error function or a hyperbolic tangent."""

from typing import Annotated, Any

from acl_emu.spec import ALL, Array, Product, StringKind
from aclnnop.activation.curves import GELU_SLOPE
from aclnnop.activation.pointwise import broadcast, pointwise, promoted
from aclnnop.math.unary import FLOATS


@pointwise(
    *FLOATS,
    rule=promoted,
    shapes=broadcast,
    products=ALL - {Product.A310B},
    out="gradInput",
    settings=({"approximate": "none"}, {"approximate": "tanh"}),
)
def aclnnGeluBackwardV2(gradOutput: Array, self: Array, approximate: Annotated[str, StringKind("char*", choices=("none", "tanh"))]) -> Any:
    """Scale ``gradOutput`` by the slope at ``self``."""
    return gradOutput * GELU_SLOPE[approximate == "tanh"](self)
