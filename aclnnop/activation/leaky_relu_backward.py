"""aclnnLeakyReluBackward: the gradient of aclnnLeakyRelu."""

from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, Array, Bool, HandleKind, Product, require
from aclnnop.activation.pointwise import broadcast, pointwise, promoted
from aclnnop.math.unary import FLOATS

Slope = Annotated[float, HandleKind(Scalar, FLOAT, FLOAT16, DOUBLE, INT32, INT64, INT8, BOOL, INT16, UINT8, BF16)]


def invertible(negativeSlope: float, selfIsResult: bool) -> None:
    """A result has the sign of what it is the result of unless the slope is negative."""
    require(
        not selfIsResult or negativeSlope >= 0,
        f"negativeSlope is {negativeSlope}, expected a value of at least 0 where selfIsResult is true",
    )


@pointwise(
    *FLOATS,
    DOUBLE,
    results=(*FLOATS, DOUBLE, COMPLEX64, COMPLEX128),
    rule=promoted,
    shapes=broadcast,
    check=invertible,
    products=ALL - {Product.A310B},
    settings=({"negativeSlope": 0.1, "selfIsResult": True}, {"negativeSlope": -0.5, "selfIsResult": False}),
)
def aclnnLeakyReluBackward(gradOutput: Array, self: Array, negativeSlope: Slope, selfIsResult: Bool) -> Any:
    """Scale ``gradOutput`` by ``negativeSlope`` where ``self`` is not positive."""
    return np.where(self > 0, gradOutput, gradOutput * negativeSlope)
