"""aclnnChannelShuffle: channels of several groups in turn."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, numbers, operator, require, same_dtype, same_shape
from aclnnop.conversion.moves import TRAINING, copied, window

TYPES = (FLOAT16, FLOAT, DOUBLE, UINT8, INT8, INT16, INT32, INT64, COMPLEX64, COMPLEX128, BOOL, BF16)


@operator(products=TRAINING)
def aclnnChannelShuffle(
    self: Annotated[Operand, In(*TYPES, rank=(3, 7))], groups: Int, out: Annotated[Operand, Out(*TYPES, rank=(3, 7))]
) -> Plan:
    """Take the channels, dimension 1, of ``groups`` groups in turn: the first of each, the second of each, and so on."""
    same_dtype(self, out)
    same_shape(self, out)
    images, channels, *rest = self.shape
    require(groups > 0 and channels % groups == 0, f"groups is {groups}, expected a divisor of the number of channels: {channels}")
    outer, step, *inner = self.view.strides
    shape = (images, channels // groups, groups, *rest)
    source = window(self, shape, (outer, step, step * (channels // groups), *inner))
    first, stride, *others = out.view.strides
    return copied(source, window(out, shape, (first, stride * groups, stride, *others)))


@aclnnChannelShuffle.example
def examples() -> Iterator[Example]:
    """Two groups and three."""
    for dtype, groups in ((FLOAT, 2), (BF16, 3)):
        yield {"self": numbers((2, 6, 3, 2), dtype, 1, 9), "groups": groups, "out": numbers((2, 6, 3, 2), dtype, 2)}
