"""aclnnGroupNormBackward: gradients of group normalisation with respect to its input, weight and bias."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import (
    ALL,
    BoolArrayIn,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    length_is,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    together,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.groups import Groups
from aclnnop.norm.rows import MASK_CHECKS, factor_gradients, input_gradient, masked
from aclnnop.norm.views import in_shapes

Tensor = Annotated[Operand, In(*FLOATS)]
OptionalTensor = Annotated[Operand | None, In(*FLOATS, optional=True)]
Gradient = Annotated[Operand | None, Out(*FLOATS, optional=True)]
MOST_CHANNELS, MOST_OF_GROUP = 240000, 8000


@operator(products=ALL - {Product.A310B, Product.A310P}, checks=MASK_CHECKS)
def aclnnGroupNormBackward(
    gradOut: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    gamma: OptionalTensor,
    N: Int,
    C: Int,
    HxW: Int,
    group: Int,
    outputMask: BoolArrayIn,
    gradInput: Gradient,
    gradGammaOut: Gradient,
    gradBetaOut: Gradient,
) -> Plan:
    """Give those gradients that ``outputMask`` asks for."""
    same_dtype(gradOut, input)
    same_dtype(mean, rstd, gamma)
    mixed = soc.current().product is Product.A950 and mean.dtype is FLOAT
    require(mixed or mean.dtype is gradOut.dtype, f"mean has dtype {mean.dtype}, expected that of gradOut: {gradOut.dtype}")
    to_input, to_gamma, to_beta = masked(outputMask, gradInput, gradGammaOut, gradBetaOut)
    if to_input is not None:
        same_dtype(gradOut, to_input)
        same_shape(input, to_input)
    for factor in filter(None, (to_gamma, to_beta)):
        same_dtype(mean, factor)
        if gamma is not None:
            same_shape(gamma, factor)
        else:
            length_is(factor, C, "one for each channel")
    require(group > 0, f"group is {group}, expected a value of at least 1")
    require(C <= MOST_CHANNELS, f"C is {C}, expected at most {MOST_CHANNELS}")
    require(
        C % group == 0 and C // group <= MOST_OF_GROUP,
        f"group is {group}, expected a divisor of C, {C}, that makes groups of at most {MOST_OF_GROUP} channels",
    )
    for operand in (gradOut, input):
        length_is(operand, N * C * HxW, "N * C * HxW")
    for operand in (mean, rstd):
        length_is(operand, N * group, "N * group")
    if gamma is not None:
        length_is(gamma, C, "one for each channel")
    if not input.size:
        return nothing()
    spatial = input.shape[2:] if input.shape[:2] == (N, C) else (HxW,)
    groups = Groups(N, group, C // group, spatial)
    reads = ((gradOut, groups.shape), (input, groups.shape), (mean, groups.kept), (rstd, groups.kept))
    plans = []
    if to_input is not None:
        of_gamma = (gamma, groups.factors)
        plans.append(in_shapes(input_gradient, reads=(*reads, of_gamma), writes=((to_input, groups.shape),), **groups.over_rows))
    if to_gamma is not None or to_beta is not None:
        plans.append(
            in_shapes(
                factor_gradients,
                reads=reads,
                writes=[(factor, groups.factors) for factor in (to_gamma, to_beta) if factor is not None],
                wanted=(to_gamma is not None, to_beta is not None),
                **groups.over_samples,
            )
        )
    return together(plans)


@aclnnGroupNormBackward.example
def examples() -> Iterator[Example]:
    """One group, several, and as many as channels; all gradients, and some of them."""
    masks = ([True, True, True], [True, False, True], [False, True, True])
    for dtype, group, shape, mask in zip(FLOATS, (2, 1, 6), ((2, 6, 4), (3, 6), (2, 6, 2, 3)), masks, strict=True):
        gradients = {"gradInput": shape, "gradGammaOut": (6,), "gradBetaOut": (6,)}
        yield {
            "gradOut": numbers(shape, dtype, 1),
            "input": numbers(shape, dtype, 2),
            "mean": numbers((shape[0], group), dtype, 3),
            "rstd": abs(numbers((shape[0], group), dtype, 4)),
            "gamma": numbers((6,), dtype, 5) if group != 1 else None,
            "N": shape[0],
            "C": 6,
            "HxW": math.prod(shape[2:]),
            "group": group,
            "outputMask": mask,
            **{name: numbers(of, dtype, 6) if wanted else None for (name, of), wanted in zip(gradients.items(), mask, strict=True)},
        }
