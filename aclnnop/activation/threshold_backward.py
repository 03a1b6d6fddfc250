"""aclnnThresholdBackward: the gradient of aclnnThreshold."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT8, INT32, INT64, UINT8
from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.pointwise import Real, broadcast, pointwise
from aclnnop.math.unary import FLOATS

TYPES = (*FLOATS, INT32, INT8, UINT8)


@pointwise(
    *TYPES,
    INT64,
    shapes=broadcast,
    on=dict.fromkeys(Product, TYPES) | {Product.A950: (*TYPES, INT64)},
    products=ALL - {Product.A310B},
    settings=({"threshold": 0.5},),
)
def aclnnThresholdBackward(gradOutput: Array, self: Array, threshold: Real) -> Any:
    """Keep ``gradOutput`` where ``self`` is above ``threshold``, and take zero elsewhere."""
    return np.where(self > threshold, gradOutput, 0)
