"""aclnnEluBackward: the gradient of aclnnElu, given its input or its output."""

from typing import Any

import numpy as np

from acl_emu.spec import ALL, Array, Bool, Product, require
from aclnnop.activation.elu import Castable
from aclnnop.activation.pointwise import converted, pointwise
from aclnnop.math.unary import FLOATS


def invertible(alpha: float, isResult: bool, **_: float) -> None:
    """A result has the sign of what it is the result of unless ``alpha`` is negative."""
    require(not isResult or alpha >= 0, f"alpha is {alpha}, expected a value of at least 0 where isResult is true")


@pointwise(
    *FLOATS,
    rule=converted,
    check=invertible,
    products=ALL - {Product.A310B},
    out="gradInput",
    settings=(
        {"alpha": 1.5, "scale": 0.75, "inputScale": 1.25, "isResult": True},
        {"alpha": -1.0, "scale": 2, "inputScale": 0.5, "isResult": False},
    ),
)
def aclnnEluBackward(gradOutput: Array, alpha: Castable, scale: Castable, inputScale: Castable, isResult: Bool, selfOrResult: Array) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnElu at its input, or where it had this output."""
    below = selfOrResult + alpha * scale if isResult else np.exp(selfOrResult * inputScale) * (alpha * scale)
    return gradOutput * np.where(selfOrResult > 0, scale, below * inputScale)
