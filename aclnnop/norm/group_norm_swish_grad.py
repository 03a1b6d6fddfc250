"""aclnnGroupNormSwishGrad: gradients of group normalisation and its product with a logistic function."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import (
    Array,
    Bool,
    Double,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    length_is,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
    together,
)
from aclnnop.activation.curves import swish_slope
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.norm.group_norm_swish import Format, GroupedOut
from aclnnop.norm.groups import Factor, Grouped, divided
from aclnnop.norm.rows import Axes, factor_gradients, input_gradient
from aclnnop.norm.views import in_shapes

Statistic = Annotated[Operand, In(*FLOATS, rank=2)]
FactorOut = Annotated[Operand, Out(*FLOATS, rank=1, const=True)]
MOST_OF_GROUP = 4000


@operator(products=NEWER)
def aclnnGroupNormSwishGrad(
    dy: Grouped,
    mean: Statistic,
    rstd: Statistic,
    x: Grouped,
    gamma: Factor,
    beta: Factor,
    numGroups: Int,
    dataFormatOptional: Format,
    swishScale: Double,
    dgammaIsRequire: Bool,
    dbetaIsRequire: Bool,
    dxOut: GroupedOut,
    dgammaOut: FactorOut,
    dbetaOut: FactorOut,
) -> Plan:
    """Go back through the logistic function and the normalisation; ``gamma`` and ``beta`` get gradients where that is asked for."""
    same_dtype(dy, mean, rstd, x, gamma, beta, dxOut, dgammaOut, dbetaOut)
    groups = divided(x, numGroups)
    require(groups.channels <= MOST_OF_GROUP, f"numGroups is {numGroups}, expected groups of at most {MOST_OF_GROUP} channels")
    same_shape(x, dy, dxOut)
    for statistic in (mean, rstd):
        shape_is(statistic, groups.kept[:2], "samples, groups")
    for factor in (gamma, beta, dgammaOut, dbetaOut):
        length_is(factor, x.shape[1], "one for each channel of x")
    batch = (
        (dy, groups.shape),
        (x, groups.shape),
        (mean, groups.kept),
        (rstd, groups.kept),
        (gamma, groups.factors),
        (beta, groups.factors),
    )
    plans = [in_shapes(of_input, reads=batch, writes=((dxOut, groups.shape),), slope=swishScale, **groups.over_rows)]
    writes = [(one, groups.factors) for one, takes in ((dgammaOut, dgammaIsRequire), (dbetaOut, dbetaIsRequire)) if takes]
    if writes:
        wanted = (dgammaIsRequire, dbetaIsRequire)
        plans.append(in_shapes(of_factors, reads=batch, writes=writes, slope=swishScale, wanted=wanted, **groups.over_samples))
    return together(plans)


def through_swish(grad: Array, x: Array, mean: Array, rstd: Array, gamma: Array, beta: Array, slope: float) -> Array:
    """The gradient with respect to the scaled and shifted groups."""
    found: Array = grad * swish_slope((x - mean) * rstd * gamma + beta, slope)
    return found


def of_input(
    grad: Array, x: Array, mean: Array, rstd: Array, gamma: Array, beta: Array, *, slope: float, axes: Axes, count: int
) -> tuple[Array]:
    """As in group normalisation."""
    inner = through_swish(grad, x, mean, rstd, gamma, beta, slope)
    return input_gradient(inner, x, mean, rstd, gamma, axes=axes, count=count)


def of_factors(
    grad: Array, x: Array, mean: Array, rstd: Array, gamma: Array, beta: Array, *, slope: float, axes: Axes, wanted: tuple[bool, ...]
) -> tuple[Array, ...]:
    """As in group normalisation."""
    return factor_gradients(through_swish(grad, x, mean, rstd, gamma, beta, slope), x, mean, rstd, axes=axes, wanted=wanted)


@aclnnGroupNormSwishGrad.example
def examples() -> Iterator[Example]:
    """One group, several, and as many as channels."""
    for dtype, group, shape in zip(FLOATS, (2, 1, 6), ((2, 6, 4), (3, 6), (2, 6, 2, 3)), strict=True):
        yield {
            "dy": numbers(shape, dtype, 1),
            "mean": numbers((shape[0], group), dtype, 2),
            "rstd": abs(numbers((shape[0], group), dtype, 3)),
            "x": numbers(shape, dtype, 4),
            "gamma": numbers((6,), dtype, 5),
            "beta": numbers((6,), dtype, 6),
            "numGroups": group,
            "dataFormatOptional": None,
            "swishScale": 0.8,
            "dgammaIsRequire": True,
            "dbetaIsRequire": group != 1,
            "dxOut": numbers(shape, dtype, 7),
            "dgammaOut": numbers((6,), dtype, 8),
            "dbetaOut": numbers((6,), dtype, 9),
        }
