"""aclnnMaxPool2dWithIndicesBackward, aclnnMaxPool2dWithMaskBackward: the gradients of both."""

from typing import Annotated

from acl_emu.core.dtypes import FLOAT, INT8
from acl_emu.spec import Bool, In, IntArrayIn, Operand, Out, Plan, Product, operator
from aclnnop.pooling.average import FLOATS, PLANE
from aclnnop.pooling.masks import mask_examples, masked_gradient
from aclnnop.pooling.maximum import (
    NEWER,
    PLACES,
    SHORT_PLACES,
    PlaneOut,
    maximum_gradient,
    sliding_examples,
    sliding_windows,
)

FULL = dict.fromkeys((Product.A3, Product.A2), (FLOAT,))
Values = Annotated[Operand, In(*FLOATS, rank=PLANE, on=FULL)]
MaskedValues = Annotated[Operand, In(*FLOATS, rank=4)]


@operator(products=NEWER)
def aclnnMaxPool2dWithIndicesBackward(
    gradOutput: Values,
    self: Values,
    indices: Annotated[Operand, In(*PLACES, rank=PLANE, on=SHORT_PLACES)],
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    ceilMode: Bool,
    gradInput: PlaneOut,
) -> Plan:
    """Add the gradients up where the largest elements were."""
    axes = sliding_windows(self, 2, kernelSize, stride, padding, dilation, ceil=ceilMode)
    return maximum_gradient(gradOutput, self, indices, axes, gradInput)


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnMaxPool2dWithMaskBackward(
    gradOutput: MaskedValues,
    self: MaskedValues,
    indices: Annotated[Operand, In(INT8, rank=4)],
    kernelSize: IntArrayIn,
    stride: IntArrayIn,
    padding: IntArrayIn,
    dilation: IntArrayIn,
    ceilMode: Bool,
    gradInput: Annotated[Operand, Out(*FLOATS, rank=4)],
) -> Plan:
    """Add the gradients up where the mask has a bit."""
    axes = sliding_windows(self, 2, kernelSize, stride, padding, dilation, ceil=ceilMode)
    return masked_gradient(gradOutput, self, indices, axes, kernelSize, gradInput)


aclnnMaxPool2dWithIndicesBackward.example(lambda: sliding_examples(aclnnMaxPool2dWithIndicesBackward, 2, types=(FLOAT, FLOAT, FLOAT)))
aclnnMaxPool2dWithMaskBackward.example(lambda: mask_examples(aclnnMaxPool2dWithMaskBackward))
