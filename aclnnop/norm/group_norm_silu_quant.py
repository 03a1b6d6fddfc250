"""aclnnGroupNormSiluQuant: group normalisation and its product with the logistic function, quantised with given scales."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT8
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
    Product,
    direct,
    length_is,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.activation.curves import swish
from aclnnop.norm.groups import divided
from aclnnop.norm.quantising import HALVES, layer_rows, store, wide

Factor = Annotated[Operand | None, In(*HALVES, rank=1, optional=True)]
Statistic = Annotated[Operand, Out(*HALVES, rank=2)]


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnGroupNormSiluQuant(
    self: Annotated[Operand, In(*HALVES, rank=(2, 8))],
    gammaOptional: Factor,
    betaOptional: Factor,
    quantScale: Annotated[Operand, In(FLOAT, rank=1)],
    group: Int,
    eps: Double,
    activateSilu: Bool,
    out: Annotated[Operand, Out(INT8, rank=(2, 8))],
    meanOut: Statistic,
    rstdOut: Statistic,
) -> Plan:
    """Normalise each group of channels of each sample, scale and shift, multiply by the logistic function, divide by the scale, round."""
    same_dtype(self, gammaOptional, betaOptional, meanOut, rstdOut)
    require(activateSilu, "activateSilu is false, expected true")
    require(eps > 0, f"eps is {eps}, expected a value above 0")
    groups = divided(self, group)
    channels = self.shape[1]
    for factor in filter(None, (gammaOptional, betaOptional)):
        length_is(factor, channels, "one for each channel of self")
    require(quantScale.size in (1, channels), f"quantScale has {quantScale.size} elements, expected 1 or {channels}")
    same_shape(self, out)
    for statistic in (meanOut, rstdOut):
        shape_is(statistic, groups.kept[:2], "samples, groups")
    if not self.size:
        return nothing()
    axes = groups.over_rows["axes"]

    def kernel(x: Array, gamma: Array | None, beta: Array | None, scale: Array, out: Array, mean: Array, rstd: Array) -> None:
        rows = wide(x).reshape(groups.shape)
        weight, bias = (None if one is None else wide(one).reshape(groups.factors) for one in (gamma, beta))
        values = swish(layer_rows(rows, weight, bias, axes, eps)).reshape(x.shape)
        columns = (1, -1, *(1,) * (x.ndim - 2))
        store(out, values / wide(scale).reshape(columns), INT8)
        means = rows.mean(axis=axes)
        mean[...] = means
        rstd[...] = 1 / np.sqrt(np.square(rows - means.reshape(groups.kept)).mean(axis=axes) + eps)

    return direct(kernel, reads=(self, gammaOptional, betaOptional, quantScale), writes=(out, meanOut, rstdOut), scratch={})


@aclnnGroupNormSiluQuant.example
def examples() -> Iterator[Example]:
    """One scale for all and one for each channel."""
    for turn, (dtype, group, shape) in enumerate(zip(HALVES, (2, 6), ((2, 6, 4), (2, 6, 2, 3)), strict=True)):
        yield {
            "self": numbers(shape, dtype, 1, 3),
            "gammaOptional": numbers((6,), dtype, 2) if turn else None,
            "betaOptional": numbers((6,), dtype, 3) if turn else None,
            "quantScale": np.abs(numbers((6,) if turn else (1,), FLOAT, 4)) + np.float32(0.05),
            "group": group,
            "eps": 1e-5,
            "activateSilu": True,
            "out": np.zeros(shape, np.int8),
            "meanOut": numbers((2, group), dtype, 5),
            "rstdOut": numbers((2, group), dtype, 6),
        }
