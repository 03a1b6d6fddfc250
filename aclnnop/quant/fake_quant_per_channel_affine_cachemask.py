"""aclnnFakeQuantPerChannelAffineCachemask: numbers rounded as a quantised tensor would hold them, channel by channel."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BOOL, FLOAT, FLOAT16, INT32
from acl_emu.spec import Example, Int, Plan, between, numbers, operator, require, wrap_dim
from aclnnop.math.unary import NEWER
from aclnnop.quant.fake_quant import Mask, Numbers, Points, Result, Scales, require_range, rounded


@operator(products=NEWER)
def aclnnFakeQuantPerChannelAffineCachemask(
    self: Numbers, scale: Scales, zeroPoint: Points, axis: Int, quantMin: Int, quantMax: Int, out: Result, mask: Mask
) -> Plan:
    """Round to steps of the scale that each element along ``axis`` has, and mark what lies inside the limits."""
    place = wrap_dim(axis, self, "axis")
    length = self.shape[place] if self.rank else 1
    for operand in (scale, zeroPoint):
        require(
            operand.size == length, f"{operand.name} has {operand.size} elements, expected as many as self has along axis {axis}: {length}"
        )
    require_range(quantMin, quantMax)
    shape = tuple(length if one == place else 1 for one in range(self.rank))
    return rounded(self, scale, zeroPoint, quantMin, quantMax, out, mask, shape=shape)


@aclnnFakeQuantPerChannelAffineCachemask.example
def examples() -> Iterator[Example]:
    """Along each dimension."""
    for dtype, of, axis, count in ((FLOAT, FLOAT, -1, 5), (FLOAT16, FLOAT, 0, 3)):
        yield {
            "self": numbers((3, 5), dtype, 1, 9),
            "scale": between(0.1, 0.5, (count,), of, 2),
            "zeroPoint": between(-5, 5, (count,), INT32, 3),
            "axis": axis,
            "quantMin": -20,
            "quantMax": 20,
            "out": numbers((3, 5), dtype, 4),
            "mask": np.zeros((3, 5), BOOL.numpy),
        }
