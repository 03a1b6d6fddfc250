"""aclnnSwish: every element times the logistic function of a multiple of it."""

from typing import Any

from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.curves import swish
from aclnnop.activation.pointwise import OptionalReal, pointwise
from aclnnop.math.unary import FLOATS

SETTINGS = ({"betaOptional": 1.1}, {"betaOptional": None})


@pointwise(*FLOATS, products=ALL - {Product.A310B}, settings=SETTINGS)
def aclnnSwish(self: Array, betaOptional: OptionalReal) -> Any:
    """Multiply every element with the logistic function of ``betaOptional``, or 1, times it."""
    return swish(self, 1.0 if betaOptional is None else betaOptional)
