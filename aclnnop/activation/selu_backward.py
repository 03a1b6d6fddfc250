"""aclnnSeluBackward: the gradient of aclnnSelu, given its output."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT8, INT32
from acl_emu.spec import ALL, Array, Product
from aclnnop.activation.curves import SELU_ALPHA, SELU_SCALE
from aclnnop.activation.pointwise import pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, INT32, INT8, integers="truncated", products=ALL - {Product.A310B}, out="gradInput")
def aclnnSeluBackward(gradOutput: Array, result: Array) -> Any:
    """Scale ``gradOutput`` by the slope of aclnnSelu where its output is ``result``."""
    return gradOutput * np.where(result > 0, SELU_SCALE, result + SELU_SCALE * SELU_ALPHA)
