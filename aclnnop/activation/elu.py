"""aclnnElu and aclnnInplaceElu: negative elements approach a limit exponentially."""

from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import ALL, Array, HandleKind, Product, in_place
from aclnnop.activation.pointwise import converted, pointwise
from aclnnop.math.unary import FLOATS

Castable = Annotated[float, HandleKind(Scalar, FLOAT, FLOAT16, BF16, DOUBLE, INT8, INT16, INT32, INT64, UINT8, BOOL)]
"""A number of a type that can be cast to FLOAT."""


@pointwise(
    *FLOATS,
    DOUBLE,
    rule=converted,
    products=ALL - {Product.A310B},
    settings=({"alpha": 1.5, "scale": 0.75, "inputScale": 1.25}, {"alpha": -1.0, "scale": 2, "inputScale": 0.5}),
)
def aclnnElu(self: Array, alpha: Castable, scale: Castable, inputScale: Castable) -> Any:
    """Scale every positive element, and let the others approach ``-alpha * scale`` exponentially."""
    return np.where(self > 0, self * scale, np.expm1(self * inputScale) * (alpha * scale))


aclnnInplaceElu = in_place(aclnnElu)
