"""aclnnFakeQuantPerTensorAffineCachemask: numbers rounded as a quantised tensor would hold them."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BOOL, FLOAT, FLOAT16, INT32, from_numpy, round_to
from acl_emu.spec import Array, Example, Float, Int, Plan, castable, direct, length_is, nothing, numbers, operator, same_shape
from aclnnop.math.unary import NEWER
from aclnnop.quant.fake_quant import Mask, Numbers, Points, Result, Scales, require_range, rounded


@operator(products=NEWER)
def aclnnFakeQuantPerTensorAffineCachemask(
    self: Numbers, scale: Scales, zeroPoint: Points, fakeQuantEnabled: Float, quantMin: Int, quantMax: Int, out: Result, mask: Mask
) -> Plan:
    """Round to steps of one scale, and mark what lies inside the limits; below 1, ``fakeQuantEnabled`` keeps everything as it is."""
    for operand in (scale, zeroPoint):
        length_is(operand, 1, "one number for all")
    require_range(quantMin, quantMax)
    if fakeQuantEnabled >= 1:
        return rounded(self, scale, zeroPoint, quantMin, quantMax, out, mask, shape=(1,) * self.rank)
    castable(self.dtype, out)
    same_shape(self, out, mask)
    return nothing() if out.size == 0 else direct(keep_all, reads=(self,), writes=(out, mask), scratch={})


def keep_all(x: Array, out: Array, mask: Array) -> None:
    """All of it counts, be it a number or not."""
    out[...] = round_to(x, from_numpy(out.dtype))
    mask[...] = True


@aclnnFakeQuantPerTensorAffineCachemask.example
def examples() -> Iterator[Example]:
    """Switched on and off."""
    for dtype, enabled in ((FLOAT, 1.0), (FLOAT16, 1.0), (FLOAT, 0.5)):
        yield {
            "self": numbers((3, 5), dtype, 1, 9),
            "scale": np.array([0.25], dtype.numpy),
            "zeroPoint": np.array([3], INT32.numpy),
            "fakeQuantEnabled": enabled,
            "quantMin": -20,
            "quantMax": 20,
            "out": numbers((3, 5), dtype, 2),
            "mask": np.zeros((3, 5), BOOL.numpy),
        }
