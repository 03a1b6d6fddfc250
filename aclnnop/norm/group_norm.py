"""aclnnGroupNorm: groups of channels with mean 0 and standard deviation 1, scaled and shifted."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import (
    ALL,
    Double,
    Example,
    In,
    Int,
    Operand,
    Plan,
    Product,
    length_is,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.groups import Grouped, GroupedOut, GroupStatistic, divided
from aclnnop.norm.rows import normalised_rows
from aclnnop.norm.views import in_shapes

OptionalFactor = Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)]


@operator(products=ALL - {Product.A310B})
def aclnnGroupNorm(
    self: Grouped,
    gamma: OptionalFactor,
    beta: OptionalFactor,
    N: Int,
    C: Int,
    HxW: Int,
    group: Int,
    eps: Double,
    out: GroupedOut,
    meanOut: GroupStatistic,
    rstdOut: GroupStatistic,
) -> Plan:
    """Normalise each group of channels of each sample; multiply by ``gamma`` and add ``beta``, one for each channel."""
    same_dtype(self, gamma, beta, out)
    require(group > 0, f"group is {group}, expected a value of at least 1")
    require(C % group == 0, f"group is {group}, expected a divisor of C: {C}")
    require(eps > 0, f"eps is {eps}, expected a value above 0")
    same_shape(self, out)
    for statistic in (meanOut, rstdOut):
        shape_is(statistic, (N, group), "N, group")
    for name, value, wanted in (("N", N, self.shape[0]), ("C", C, self.shape[1]), ("HxW", HxW, math.prod(self.shape[2:]))):
        require(value == wanted, f"{name} is {value}, expected {wanted} for self of shape {list(self.shape)}")
    for factor in filter(None, (gamma, beta)):
        length_is(factor, C, "one for each channel")
    groups = divided(self, group)
    return in_shapes(
        normalised_rows,
        reads=((self, groups.shape), (gamma, groups.factors), (beta, groups.factors)),
        writes=((out, groups.shape), (meanOut, groups.kept), (rstdOut, groups.kept)),
        eps=eps,
        wanted=(True, True, True),
        **groups.over_rows,
    )


@aclnnGroupNorm.example
def examples() -> Iterator[Example]:
    """One group, several, and as many as channels; with and without factors."""
    for dtype, group, shape in zip(FLOATS, (2, 1, 6), ((2, 6, 4), (3, 6), (2, 6, 2, 3)), strict=True):
        yield {
            "self": numbers(shape, dtype, 1, 3),
            "gamma": numbers((6,), dtype, 2) if group != 1 else None,
            "beta": numbers((6,), dtype, 3) if group != 6 else None,
            "N": shape[0],
            "C": 6,
            "HxW": math.prod(shape[2:]),
            "group": group,
            "eps": 1e-5,
            "out": numbers(shape, dtype, 4),
            "meanOut": numbers((shape[0], group), dtype, 5),
            "rstdOut": numbers((shape[0], group), dtype, 6),
        }
