"""aclnnDequantSwigluQuantV2: a gated linear unit of numbers that are dequantised first, with a choice of unit, axis and type."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT4_E1M2, FLOAT4_E2M1, FLOAT8_E4M3FN, FLOAT16, INT8, INT32, INT64
from acl_emu.core.soc import current
from acl_emu.spec import Bool, Double, Example, In, Int, IntKind, Operand, Out, Plan, Product, numbers, operator, require, wrap_dim
from aclnnop.activation.pointwise import NEWER
from aclnnop.quant.activated import SwigluMode, require_limit
from aclnnop.quant.dequant_swiglu_quant import Bias, Lines, RowFactors, dequantised_unit
from aclnnop.quant.dequant_swiglu_quant import examples as plain_examples
from aclnnop.quant.dequantised_units import ROUNDINGS, unneeded
from aclnnop.quant.microscaling import FOUR_BITS, RoundMode
from aclnnop.quant.results import EIGHT_BIT_FLOATS, require_rounding, require_type
from aclnnop.quant.swi_glu_quant import Mode

OLDER = (Product.A3, Product.A2)
MOST_COLUMNS = 5120
ALIGNED = 64


@operator(products=NEWER)
def aclnnDequantSwigluQuantV2(
    x: Annotated[Operand, In(FLOAT16, BF16, INT32, rank=(2, 8), on=dict.fromkeys(OLDER, (INT32, BF16)))],
    weightScaleOptional: Lines,
    activationScaleOptional: RowFactors,
    biasOptional: Bias,
    quantScaleOptional: Lines,
    quantOffsetOptional: Lines,
    groupIndexOptional: Annotated[Operand | None, In(INT64, rank=(1, 2), optional=True)],
    activateLeft: Bool,
    quantModeOptional: Mode,
    dstType: Int,
    roundModeOptional: RoundMode,
    activateDim: Int,
    swigluMode: Annotated[int, IntKind(choices=SwigluMode)],
    clampLimit: Double,
    gluAlpha: Double,
    gluBias: Double,
    yOut: Annotated[
        Operand, Out(INT8, *EIGHT_BIT_FLOATS, FLOAT4_E2M1, FLOAT4_E1M2, rank=(2, 8), const=True, on=dict.fromkeys(OLDER, (INT8,)))
    ],
    scaleOut: Annotated[Operand, Out(FLOAT, rank=(1, 7), const=True)],
) -> Plan:
    """Scale integers, gate one part of ``x`` by the other, and quantise with the factors of each row's group."""
    require_type("dstType", dstType, yOut)
    if roundModeOptional is not None:
        require_rounding("roundModeOptional", roundModeOptional, ROUNDINGS.get(yOut.dtype, ("rint",)), yOut)
    axis = wrap_dim(activateDim, x, "activateDim")
    require_limit(swigluMode, clampLimit)
    require(activateLeft or swigluMode != SwigluMode.PAIRS, "activateLeft is false, expected true where swigluMode is 1")
    require(
        swigluMode == SwigluMode.PLAIN or axis == x.rank - 1,
        f"activateDim is {activateDim}, expected the last dimension where swigluMode is {swigluMode}",
    )
    if current().product in OLDER:
        require(x.rank == 2, f"x has {x.rank} dimensions, expected 2")
        require(axis == 1, f"activateDim is {activateDim}, expected -1")
        require(x.shape[1] % ALIGNED == 0, f"x has shape {list(x.shape)}, expected a last dimension that {ALIGNED} divides")
        if quantModeOptional == "dynamic":
            unneeded((quantOffsetOptional,), "where quantModeOptional is dynamic")
    if groupIndexOptional is not None and groupIndexOptional.rank == 2:
        pairs = current().product not in OLDER and groupIndexOptional.shape[1] == 2
        require(pairs, f"groupIndexOptional has shape {list(groupIndexOptional.shape)}, expected 1 dimension, or on A950 pairs")
    require(
        axis == x.rank - 1 or yOut.shape[-1] <= MOST_COLUMNS,
        f"yOut has shape {list(yOut.shape)}, expected at most {MOST_COLUMNS} columns where activateDim is {activateDim}",
    )
    if yOut.dtype in FOUR_BITS:
        require(yOut.shape[-1] % 2 == 0, f"yOut has shape {list(yOut.shape)}, expected an even last dimension for dtype {yOut.dtype}")
        require(yOut.contiguous, f"yOut of dtype {yOut.dtype} has strides, expected a contiguous tensor")
    factors = weightScaleOptional, activationScaleOptional, biasOptional, quantScaleOptional, quantOffsetOptional
    unit: dict[str, Any] = {"mode": swigluMode, "left": activateLeft, "limit": clampLimit, "alpha": gluAlpha, "bias": gluBias}
    rounding = roundModeOptional or "rint"
    return dequantised_unit(x, factors, groupIndexOptional, quantModeOptional, yOut, scaleOut, axis=axis, rounding=rounding, unit=unit)


@aclnnDequantSwigluQuantV2.example
def examples() -> Iterator[Example]:
    """Those of the first version that every product has, in each mode."""
    kept = [example for example in plain_examples() if example["x"].dtype != FLOAT16.numpy]
    for turn, example in enumerate((*kept, kept[0])):
        yield {**example, "activateLeft": turn != 2, "swigluMode": (turn + 1) % 4, **variant(INT8.code, -1)}


def variant(code: int, dim: int) -> Example:
    """What the second version adds."""
    return {"dstType": code, "roundModeOptional": None, "activateDim": dim, "clampLimit": 7.0, "gluAlpha": 1.702, "gluBias": 1.0}


@aclnnDequantSwigluQuantV2.example_on(Product.A950)
def along_another_axis() -> Iterator[Example]:
    """To floats; pairs of groups and sizes."""
    static, dynamic = list(plain_examples())[1], next(iter(plain_examples()))
    yield {
        **static,
        **variant(FLOAT8_E4M3FN.code, 0),
        "swigluMode": 0,
        "yOut": np.zeros((2, 64), FLOAT8_E4M3FN.numpy),
        "scaleOut": numbers((2,), FLOAT, 7),
    }
    yield {
        **dynamic,
        **variant(FLOAT8_E4M3FN.code, -1),
        "swigluMode": 2,
        "groupIndexOptional": np.array([[1, 2], [0, 1]]),
        "yOut": np.zeros((4, 32), FLOAT8_E4M3FN.numpy),
    }
