"""aclnnHardtanhBackward: the gradient of a clamp."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.activation.pointwise import Real, converted, pointwise
from aclnnop.math.unary import FLOATS


@pointwise(*FLOATS, rule=converted, settings=({"min": -1.0, "max": 1.5},))
def aclnnHardtanhBackward(gradOutput: Array, self: Array, min: Real, max: Real) -> Any:
    """Keep ``gradOutput`` where ``self`` is between the bounds or at one, and take 0 elsewhere."""
    return np.where((self < min) | (self > max), 0, gradOutput)
