"""aclnnNLLLoss2dBackward: gradient of the negative log likelihood loss of images."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64, UINT8
from acl_emu.errors import DeviceFault
from acl_emu.spec import (
    ALL,
    Array,
    FloatIn,
    FloatOut,
    In,
    Int,
    Operand,
    Plan,
    Product,
    Reduction,
    length_is,
    mapped,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)

ClassIndex = Annotated[Operand, In(INT64, UINT8, INT32)]
TotalWeight = Annotated[Operand, In(FLOAT, FLOAT16, BF16, const=False)]


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnNLLLoss2dBackward(
    gradOutput: FloatIn,
    self: FloatIn,
    target: ClassIndex,
    weight: FloatIn,
    reduction: Int,
    ignoreIndex: Int,
    totalWeight: TotalWeight,
    out: FloatOut,
) -> Plan:
    """Put ``-weight * gradOutput`` at the target class of every pixel."""
    same_dtype(self, gradOutput, weight, totalWeight, out)
    require(self.rank == 4, f"self has shape {list(self.shape)}, expected (N, C, H, W)")
    batch, classes, height, width = self.shape
    pixels = (batch, height, width)
    shape_is(target, pixels, "(N, H, W) of self")
    length_is(weight, classes, "C of self")
    length_is(totalWeight, 1, "a single number")
    same_shape(self, out)
    if reduction == Reduction.NONE:
        shape_is(gradOutput, pixels, "(N, H, W) of self when nothing is reduced")
    else:
        require(gradOutput.rank <= 1, f"gradOutput has shape {list(gradOutput.shape)}, expected at most one dimension when reduced")
        length_is(gradOutput, 1, "a single number when reduced")
    require(reduction in list(Reduction), f"reduction is {reduction}, expected 0 (none), 1 (mean) or 2 (sum)")
    return mapped(
        gradient,
        reads=(gradOutput, target, weight, totalWeight),
        writes=(out,),
        via=self.dtype,
        raw=(target,),
        shape=self.shape,
        mean=reduction == Reduction.MEAN,
        ignored=ignoreIndex,
    )


def gradient(grad: Array, target: Array, weight: Array, total: Array, *, shape: tuple[int, ...], mean: bool, ignored: int) -> Array:
    """Zero everywhere but at the target class of each pixel that is not ignored."""
    classes = shape[1]
    target = target.astype(np.int64)
    counted = target != ignored
    outside = counted & ((target < 0) | (target >= classes))
    if outside.any():
        pixel = tuple(int(i) for i in np.argwhere(outside)[0])
        raise DeviceFault(f"target{list(pixel)} is {target[pixel]}, outside [0, {classes - 1}]")
    index = np.where(counted, target, 0)
    scale = grad.reshape(()) if grad.size == 1 and grad.ndim < 3 else grad
    if mean:
        scale = scale / total.reshape(())
    value = np.where(counted, -weight.reshape(-1)[index] * scale, 0)
    result = np.zeros(shape, weight.dtype)
    np.put_along_axis(result, index[:, np.newaxis], value[:, np.newaxis], axis=1)
    return result
