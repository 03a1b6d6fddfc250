"""aclnnGroupNormSilu: group normalisation and its product with the logistic function; the second form leaves that out on request."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
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
from aclnnop.activation.curves import swish
from aclnnop.math.unary import FLOATS
from aclnnop.norm.groups import Grouped, GroupedOut, GroupStatistic, divided
from aclnnop.norm.rows import Axes, normalised, scaled
from aclnnop.norm.views import in_shapes

PRODUCTS = ALL - {Product.A310B, Product.A910}
Factor = Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)]


@operator(products=PRODUCTS)
def aclnnGroupNormSilu(
    self: Grouped, gamma: Factor, beta: Factor, group: Int, eps: Double, out: GroupedOut, meanOut: GroupStatistic, rstdOut: GroupStatistic
) -> Plan:
    """Normalise each group of channels of each sample, scale and shift; multiply by the logistic function."""
    return activated(self, gamma, beta, group, eps, out, meanOut, rstdOut, slope=1.0)


@operator(products=PRODUCTS)
def aclnnGroupNormSiluV2(
    self: Grouped,
    gamma: Factor,
    beta: Factor,
    group: Int,
    eps: Double,
    activateSilu: Bool,
    out: GroupedOut,
    meanOut: GroupStatistic,
    rstdOut: GroupStatistic,
) -> Plan:
    """Normalise each group of channels of each sample, scale and shift; multiply by the logistic function where that is asked for."""
    return activated(self, gamma, beta, group, eps, out, meanOut, rstdOut, slope=1.0 if activateSilu else None)


def activated(
    x: Operand,
    gamma: Operand | None,
    beta: Operand | None,
    group: int,
    eps: float,
    out: Operand,
    mean: Operand,
    rstd: Operand,
    *,
    slope: float | None,
) -> Plan:
    """The plan of all forms; ``slope``: what the argument of the logistic function is multiplied with, None without it."""
    same_dtype(x, out)
    same_dtype(mean, rstd)
    for factor in filter(None, (gamma, beta)):
        require(
            factor.dtype in (x.dtype, FLOAT), f"{factor.name} has dtype {factor.dtype}, expected that of {x.name}, {x.dtype}, or {FLOAT}"
        )
        length_is(factor, x.shape[1], f"one for each channel of {x.name}")
    if soc.current().product is Product.A950 and gamma is not None:
        same_dtype(gamma, beta, mean)
    require(eps > 0, f"eps is {eps}, expected a value above 0")
    groups = divided(x, group)
    same_shape(x, out)
    for statistic in (mean, rstd):
        shape_is(statistic, groups.kept[:2], "samples, groups")
    return in_shapes(
        activated_groups,
        reads=((x, groups.shape), (gamma, groups.factors), (beta, groups.factors)),
        writes=((out, groups.shape), (mean, groups.kept), (rstd, groups.kept)),
        eps=eps,
        slope=slope,
        **groups.over_rows,
    )


def activated_groups(
    x: Array, gamma: Array | None, beta: Array | None, *, axes: Axes, count: int, eps: float, slope: float | None
) -> tuple[Array, ...]:
    """The groups, means and inverse standard deviations."""
    values, mean, rstd = normalised(x, axes, count, eps)
    weighed = scaled(values, gamma, beta)
    return weighed if slope is None else swish(weighed, slope), mean, rstd


def activated_examples() -> Iterator[Example]:
    """One group, several, and as many as channels."""
    for dtype, group, shape in zip(FLOATS, (2, 1, 6), ((2, 6, 4), (3, 6), (2, 6, 2, 3)), strict=True):
        yield {
            "self": numbers(shape, dtype, 1, 3),
            "gamma": numbers((6,), dtype, 2),
            "beta": numbers((6,), dtype, 3),
            "group": group,
            "eps": 1e-5,
            "out": numbers(shape, dtype, 4),
            "meanOut": numbers((shape[0], group), dtype, 5),
            "rstdOut": numbers((shape[0], group), dtype, 6),
        }


aclnnGroupNormSilu.example(activated_examples)


@aclnnGroupNormSiluV2.example
def examples_of_both() -> Iterator[Example]:
    """With and without the logistic function."""
    for turn, example in enumerate(activated_examples()):
        yield {**example, "activateSilu": turn != 1}
