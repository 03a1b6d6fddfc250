"""aclnnSoftplusBackward: the gradient of aclnnSoftplus."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import DOUBLE
from acl_emu.spec import Array, Product
from aclnnop.activation.curves import logistic
from aclnnop.activation.pointwise import NEWER, Real, pointwise, promoted
from aclnnop.activation.softplus import SETTINGS
from aclnnop.math.unary import FLOATS, INTEGRAL


@pointwise(
    *FLOATS,
    DOUBLE,
    inputs={"self": (*FLOATS, DOUBLE, *INTEGRAL)},
    rule=promoted,
    products=NEWER | {Product.A910},
    out="gradInput",
    settings=SETTINGS,
)
def aclnnSoftplusBackward(gradOutput: Array, self: Array, beta: Real, threshold: Real) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnSoftplus at ``self``."""
    scaled = self * beta
    return gradOutput * np.where(scaled > threshold, 1, logistic(scaled))
