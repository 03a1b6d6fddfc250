"""aclnnGeluV2: the Gaussian error linear unit, by the error function or a hyperbolic tangent."""

import enum
from typing import Annotated, Any

from acl_emu.spec import ALL, Array, IntKind, Product
from aclnnop.activation.curves import GELU
from aclnnop.activation.pointwise import pointwise
from aclnnop.math.unary import FLOATS, without_bf16


class Approximation(enum.IntEnum):
    """How the normal distribution function is computed."""

    NONE = 0
    TANH = 1


@pointwise(
    *FLOATS,
    on={Product.A310B: without_bf16(FLOATS)},
    products=ALL - {Product.A310B},
    out="y",
    settings=({"approximate": 0}, {"approximate": 1}),
)
def aclnnGeluV2(x: Array, approximate: Annotated[int, IntKind(choices=Approximation, checked=False)]) -> Any:
    """Weigh every element with the normal distribution function, or with its approximation by a hyperbolic tangent."""
    return GELU[approximate == Approximation.TANH](x)
