"""aclnnRmsNormGradQuant: gradients of RMS normalisation; that of the input is quantised with a given scale."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, HIFLOAT8, INT8, INT32, DType
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
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
from aclnnop.math.unary import FLOATS
from aclnnop.norm.mean_square import ends_with
from aclnnop.norm.quantising import store, wide, with_scale

Rows = Annotated[Operand, In(*FLOATS, rank=(2, 8))]


@operator(products=frozenset({Product.A950}))
def aclnnRmsNormGradQuant(
    dy: Rows,
    x: Rows,
    rstd: Annotated[Operand, In(FLOAT, rank=(1, 8))],
    gamma: Annotated[Operand, In(*FLOATS, rank=(1, 7))],
    scalesX: Annotated[Operand, In(*FLOATS, rank=1)],
    offsetXOptional: Annotated[Operand | None, In(INT32, rank=1, optional=True)],
    quantMode: Annotated[str, StringKind(choices=("static",))],
    divMode: Bool,
    dxOut: Annotated[Operand, Out(HIFLOAT8, INT8, rank=(2, 8))],
    dgammaOut: Annotated[Operand, Out(FLOAT, rank=(1, 7))],
) -> Plan:
    """Give both gradients; divide that of ``x`` by the scale or multiply, add the offset, and round."""
    same_dtype(dy, x)
    for factor in (gamma, scalesX):
        fitting = factor.dtype in (dy.dtype, FLOAT)
        require(fitting, f"{factor.name} has dtype {factor.dtype}, expected that of dy, {dy.dtype}, or {FLOAT}")
    kept = ends_with(x, gamma)
    same_shape(dy, x, dxOut)
    length_is(rstd, x.size // gamma.size, "one for each row of x")
    for factor in filter(None, (scalesX, offsetXOptional)):
        shape_is(factor, (1,), "one for all")
    same_shape(gamma, dgammaOut)
    if not x.size:
        return nothing()
    rest, target = x.rank - gamma.rank, dxOut.dtype
    axes = tuple(range(rest, x.rank))

    def kernel(dy: Array, x: Array, rstd: Array, gamma: Array, scale: Array, offset: Array | None, dx: Array, dgamma: Array) -> None:
        factors = wide(rstd).reshape(kept)
        unit, weighed = wide(x) * factors, wide(dy) * wide(gamma)
        gradient = (weighed - unit * (weighed * unit).mean(axis=axes, keepdims=True)) * factors
        store(dx, with_scale(gradient, wide(scale), wide(offset), divides=divMode), target)
        dgamma[...] = (unit * wide(dy)).sum(axis=tuple(range(rest)))

    return direct(kernel, reads=(dy, x, rstd, gamma, scalesX, offsetXOptional), writes=(dxOut, dgammaOut), scratch={})


def call(dtype: DType, factor: DType, scale: DType, *, divides: bool) -> Example:
    """One of shape 2, 3, 16."""
    return {
        "dy": numbers((2, 3, 16), dtype, 1),
        "x": numbers((2, 3, 16), dtype, 2),
        "rstd": np.abs(numbers((2, 3), FLOAT, 3)),
        "gamma": numbers((16,), factor, 4),
        "scalesX": np.full((1,), 0.25, scale.numpy),
        "offsetXOptional": np.full((1,), 3, np.int32) if divides else None,
        "quantMode": "static",
        "divMode": divides,
        "dxOut": np.zeros((2, 3, 16), np.int8),
        "dgammaOut": numbers((16,), FLOAT, 5),
    }


@aclnnRmsNormGradQuant.example
def examples() -> Iterator[Example]:
    """Both ways to scale."""
    yield call(FLOAT, FLOAT, FLOAT, divides=True)
    yield call(FLOAT16, FLOAT, FLOAT16, divides=False)
    yield call(BF16, BF16, FLOAT, divides=True)
