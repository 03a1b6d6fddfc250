"""Groups of channels: what group normalisation, its fused forms and its gradient share."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from acl_emu.runtime.tensor import Shape
from acl_emu.spec import In, Operand, Out, require
from aclnnop.math.unary import FLOATS

Grouped = Annotated[Operand, In(*FLOATS, rank=(2, 8))]
GroupedOut = Annotated[Operand, Out(*FLOATS, rank=(2, 8))]
Factor = Annotated[Operand, In(*FLOATS, rank=1)]
GroupStatistic = Annotated[Operand, Out(*FLOATS, rank=2)]


class Groups(NamedTuple):
    """How a batch is divided: samples, groups, channels of a group; and the other lengths."""

    samples: int
    groups: int
    channels: int
    spatial: Shape

    @property
    def shape(self) -> Shape:
        """The shape of the batch. Only the axis of channels is split, which strides always allow."""
        return (self.samples, self.groups, self.channels, *self.spatial)

    @property
    def kept(self) -> Shape:
        """The shape of a statistic."""
        return (self.samples, self.groups, 1, *(1,) * len(self.spatial))

    @property
    def factors(self) -> Shape:
        """The shape of weight and bias."""
        return (1, self.groups, self.channels, *(1,) * len(self.spatial))

    @property
    def over_rows(self) -> dict[str, Any]:
        """What kernels have to know that reduce each group of each sample."""
        return {"axes": tuple(range(2, len(self.shape))), "count": self.channels * math.prod(self.spatial)}

    @property
    def over_samples(self) -> dict[str, Any]:
        """What kernels have to know that reduce each channel of all samples."""
        return {"axes": (0, *range(3, len(self.shape)))}


def divided(x: Operand, group: int) -> Groups:
    """The groups of a batch whose second axis has the channels."""
    require(group > 0, f"group is {group}, expected a value of at least 1")
    channels = x.shape[1]
    require(channels % group == 0, f"group is {group}, expected a divisor of the channels of {x.name}: {channels}")
    return Groups(x.shape[0], group, channels // group, x.shape[2:])
