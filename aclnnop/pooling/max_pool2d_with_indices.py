"""aclnnMaxPool2dWithIndices, aclnnMaxPool2dWithMask: the largest element of each window, and where it was."""

from typing import Annotated

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8
from acl_emu.spec import ALL, Bool, In, IntArrayIn, Operand, Out, Plan, Product, operator
from aclnnop.pooling.average import FLOATS, PLANE
from aclnnop.pooling.masks import mask_examples, masked_maximum
from aclnnop.pooling.maximum import (
    NEWER,
    PLACES,
    PlaneIn,
    PlaneOut,
    maximum,
    sliding_examples,
    sliding_windows,
)

OLDER = {Product.A310P: (FLOAT,), Product.A910: (FLOAT16, FLOAT)}


@operator(products=NEWER)
def aclnnMaxPool2dWithIndices(
    self: PlaneIn,
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    ceilMode: Bool,
    out: PlaneOut,
    indices: Annotated[Operand, Out(*PLACES, rank=PLANE)],
) -> Plan:
    """Take the largest element of each window and its place in its plane."""
    return maximum(self, sliding_windows(self, 2, kernelSize, stride, padding, dilation, ceil=ceilMode), out, indices)


@operator(products=ALL - {Product.A310B, Product.A950})
def aclnnMaxPool2dWithMask(
    self: Annotated[Operand, In(*FLOATS, rank=PLANE, on=OLDER)],
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    ceilMode: Bool,
    out: Annotated[Operand, Out(*FLOATS, rank=PLANE, on=OLDER)],
    indices: Annotated[Operand, Out(INT8, rank=PLANE)],
) -> Plan:
    """Take the largest element of each window; its place in the window is a bit of a mask."""
    axes = sliding_windows(self, 2, kernelSize, stride, padding, dilation, ceil=ceilMode)
    return masked_maximum(self, axes, kernelSize, out, indices)


aclnnMaxPool2dWithIndices.example(lambda: sliding_examples(aclnnMaxPool2dWithIndices, 2))
aclnnMaxPool2dWithMask.example(lambda: mask_examples(aclnnMaxPool2dWithMask))
