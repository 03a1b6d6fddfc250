"""aclnnAdaptiveMaxPool2d: the largest elements of windows that share the last two axes out, and where they were."""

from typing import Annotated

from acl_emu.core.constants import ACL_FORMAT_NHWC
from acl_emu.core.dtypes import DOUBLE, INT64
from acl_emu.spec import In, IntArrayIn, Operand, Out, Plan, Product, operator, same_shape
from aclnnop.pooling.average import FLOATS, PLANE
from aclnnop.pooling.maximum import NEWER, adaptive_examples, maximum
from aclnnop.pooling.windows import filled, output_sizes, share


@operator(products=NEWER | {Product.A910})
def aclnnAdaptiveMaxPool2d(
    self: Annotated[Operand, In(*FLOATS, DOUBLE, rank=PLANE)],
    outputSize: IntArrayIn,
    outputOut: Annotated[Operand, Out(*FLOATS, DOUBLE, rank=PLANE)],
    indicesOut: Annotated[Operand, Out(INT64, rank=PLANE)],
) -> Plan:
    """Take the largest element of each window and its place in its plane."""
    filled(self, outputOut)
    sizes = output_sizes(outputSize, 2)
    if self.view.format == ACL_FORMAT_NHWC and self.rank == 4 and outputOut.shape == (self.shape[0], *sizes, self.shape[3]):
        same_shape(outputOut, indicesOut)
        self, outputOut, indicesOut = map(channels_second, (self, outputOut, indicesOut))
    return maximum(self, share(self, 2, sizes), outputOut, indicesOut)


def channels_second(operand: Operand) -> Operand:
    """A tensor whose last axis has channels, with its axes in the order in which planes come last."""
    shape, strides = operand.view.shape, operand.view.strides
    return operand.in_view([shape[axis] for axis in (0, 3, 1, 2)], [strides[axis] for axis in (0, 3, 1, 2)])


aclnnAdaptiveMaxPool2d.example(lambda: adaptive_examples(aclnnAdaptiveMaxPool2d, 2))
