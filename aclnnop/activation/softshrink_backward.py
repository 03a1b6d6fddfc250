"""aclnnSoftshrinkBackward: the gradient of aclnnSoftshrink."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Array, Product
from aclnnop.activation.pointwise import Real, broadcast, pointwise, promoted
from aclnnop.activation.softshrink import not_negative
from aclnnop.math.unary import FLOATS


@pointwise(
    *FLOATS,
    rule=promoted,
    shapes=broadcast,
    check=lambda lambda_: not_negative(lambda_),
    on={Product.A310B: (FLOAT, FLOAT16)},
    out="gradInput",
    settings=({"lambda": 0.5},),
)
def aclnnSoftshrinkBackward(gradOutput: Array, self: Array, lambda_: Real) -> Any:
    """Take zero where ``self`` is between ``-lambda_`` and ``lambda_``, and ``gradOutput`` elsewhere."""
    return np.where((self >= -lambda_) & (self <= lambda_), 0, gradOutput)
