"""aclnnAddLayerNormQuant: layer normalisation of a sum, quantised with given scales or with scales of each row, once or twice."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.spec import (
    Array,
    Bool,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import FLOATS
from aclnnop.norm.add_layer_norm import bias_fits
from aclnnop.norm.mean_square import ends_with
from aclnnop.norm.quantising import layer_rows, store, wide, with_row_scales, with_scale

Rows = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
OptionalRows = Annotated[Operand | None, In(*FLOATS, rank=(1, 8), optional=True)]
Mode = Annotated[str, StringKind(choices=("static", "dynamic"))]
QuantisedOut = Annotated[Operand, Out(INT8, rank=(1, 8))]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8))]
ScalesOut = Annotated[Operand, Out(FLOAT, rank=(0, 7))]

STATIC = {(True, True, True, True), (True, True, False, False), (True, False, True, False), (True, False, False, False)}
DYNAMIC = {(False, False, False, False), (True, False, False, False), (True, True, False, False)}
"""Which of both scales and both zero points are given together."""


@operator(products=frozenset({Product.A950}), elsewhere=AclnnInvalid)
def aclnnAddLayerNormQuant(
    x1: Rows,
    x2: Rows,
    gamma: Rows,
    beta: Rows,
    biasOptional: OptionalRows,
    scales1Optional: OptionalRows,
    scales2Optional: OptionalRows,
    zeroPoints1Optional: OptionalRows,
    zeroPoints2Optional: OptionalRows,
    quantMode: Mode,
    epsilon: Double,
    additionalOutput: Bool,
    divMode: Bool,
    y1Out: QuantisedOut,
    y2Out: QuantisedOut,
    xOut: RowsOut,
    outScales1Out: ScalesOut,
    outScales2Out: ScalesOut,
) -> Plan:
    """Add, normalise, scale and shift; quantise with the given scales and zero points, or each row by its largest magnitude."""
    factors = (scales1Optional, scales2Optional, zeroPoints1Optional, zeroPoints2Optional)
    outputs = (y1Out, y2Out, xOut if additionalOutput else None, None, outScales1Out, outScales2Out)
    rank_in(xOut, *range(1, 9))
    dynamic = quantMode == "dynamic"
    require(not dynamic or gamma.rank == 1, f"gamma has {gamma.rank} dimensions, expected 1 where quantMode is dynamic")
    return quantised_sum(x1, x2, gamma, beta, biasOptional, factors, dynamic, epsilon, divMode, outputs)


def quantised_sum(
    x1: Operand,
    x2: Operand,
    gamma: Operand,
    beta: Operand,
    bias: Operand | None,
    factors: tuple[Operand | None, ...],
    dynamic: bool,
    epsilon: float,
    divides: bool,
    outputs: tuple[Operand, Operand, Operand | None, Operand | None, Operand, Operand],
    *,
    per_tensor: bool = False,
) -> Plan:
    """The plan of both versions; ``per_tensor``: scales and zero points may be single numbers, and ``gamma`` may have a leading 1."""
    y1, y2, total, plain, *scales = outputs
    same_dtype(x1, x2, gamma, beta, bias, total, plain)
    given = [factor for factor in factors if factor is not None]
    require(not dynamic or x1.dtype is not FLOAT, f"x1 has dtype {x1.dtype}, expected FLOAT16 or BF16 where quantMode is dynamic")
    if given:
        same_dtype(given[0], *given[1:])
        types = (x1.dtype,) if dynamic else (x1.dtype, FLOAT)
        require(given[0].dtype in types, f"{given[0].name} has dtype {given[0].dtype}, expected {' or '.join(map(str, types))}, as for x1")
    which = tuple(factor is not None for factor in factors)
    fitting = which in (DYNAMIC if dynamic else STATIC)
    require(fitting, "the scales and zero points that are given do not go together in this quantMode")
    normal = gamma
    if per_tensor and gamma.shape == (1, x1.shape[-1]):
        normal = gamma.in_view(gamma.shape[1:], gamma.view.strides[1:])
    ends_with(x1, normal)
    require(not dynamic or x1.rank > 1, f"x1 has {x1.rank} dimensions, expected at least 2 where quantMode is dynamic")
    same_shape(x1, x2, y1)
    for operand in filter(None, (total, plain)):
        same_shape(x1, operand)
    same_shape(gamma, beta)
    bias_fits(bias, x1, gamma)
    shapes = (gamma.shape, normal.shape, (1,)) if per_tensor else (gamma.shape,)
    for factor in given:
        expected = f"that of gamma, {list(gamma.shape)}" + (", or [1]" if per_tensor else "")
        require(factor.shape in shapes, f"{factor.name} has shape {list(factor.shape)}, expected {expected}")
    rank_in(y2, *range(1, 9))
    second = factors[1] is not None
    if second:
        same_shape(x1, y2)
    if dynamic:
        for scale in scales[: 2 if second else 1]:
            shape_is(scale, x1.shape[:-1], "as x1 without its last dimension")
    for scale in scales:
        rank_in(scale, *range(8))
    if not x1.size:
        return nothing()
    axes = tuple(range(x1.rank - normal.rank, x1.rank))
    shape = normal.shape

    def kernel(*arrays: Array | None) -> None:
        first, other, gamma, beta, bias, scale1, scale2, point1, point2, y1, y2, x_out, plain_out, out1, out2 = arrays
        x = wide(first) + wide(other)
        if bias is not None:
            x = x + wide(bias).reshape(bias.shape if bias.ndim == x.ndim else shape)
        values = layer_rows(x, wide(gamma).reshape(shape), wide(beta).reshape(shape), axes, epsilon)
        for y, scale, point, out in ((y1, scale1, point1, out1), (y2, scale2, point2, out2)):
            if y is None:
                continue
            own = [None if one is None else wide(one).reshape(shape if one.size == np.prod(shape) else ()) for one in (scale, point)]
            if out is None:
                store(y, with_scale(values, own[0], own[1], divides=divides), INT8)
            else:
                quotients, found = with_row_scales(values, own[0], INT8)
                out[...] = found.reshape(out.shape)
                store(y, quotients, INT8)
        for target, result in ((x_out, x), (plain_out, values)):
            if target is not None:
                target[...] = np.asarray(result, np.float32)

    rows = [scale if dynamic and takes else None for scale, takes in zip(scales, (True, second), strict=True)]
    writes = (y1, y2 if second else None, total, plain, *rows)
    return direct(kernel, reads=(x1, x2, gamma, beta, bias, *factors), writes=writes, scratch={})


def call(dtype: DType, factor: DType, which: tuple[bool, ...], *, dynamic: bool, divides: bool) -> Example:
    """One of shape 2, 3, 16."""
    names = ("scales1Optional", "scales2Optional", "zeroPoints1Optional", "zeroPoints2Optional")
    given = {
        name: (np.abs(numbers((16,), factor, seed)) + factor.numpy.type(0.1) if takes else None)
        for seed, (name, takes) in enumerate(zip(names, which, strict=True), 6)
    }
    return {
        "x1": numbers((2, 3, 16), dtype, 1),
        "x2": numbers((2, 3, 16), dtype, 2),
        "gamma": numbers((16,), dtype, 3),
        "beta": numbers((16,), dtype, 4),
        "biasOptional": numbers((16,), dtype, 5) if divides else None,
        **given,
        "quantMode": "dynamic" if dynamic else "static",
        "epsilon": 1e-5,
        "additionalOutput": divides,
        "divMode": divides,
        "y1Out": np.zeros((2, 3, 16), np.int8),
        "y2Out": np.zeros((2, 3, 16), np.int8),
        "xOut": numbers((2, 3, 16), dtype, 10),
        "outScales1Out": numbers((2, 3), FLOAT, 11),
        "outScales2Out": numbers((2, 3), FLOAT, 12),
    }


@aclnnAddLayerNormQuant.example
def examples() -> Iterator[Example]:
    """Every row of the page's table of scales and zero points."""
    for turn, which in enumerate(sorted(STATIC)):
        yield call(FLOATS[turn % 3], FLOAT, which, dynamic=False, divides=turn % 2 == 0)
    for turn, which in enumerate(sorted(DYNAMIC)):
        yield call((FLOAT16, BF16)[turn % 2], (FLOAT16, BF16)[turn % 2], which, dynamic=True, divides=turn % 2 == 0)
