"""aclnnDequantSwigluQuant: a gated linear unit of numbers that are dequantised first, quantised to eight bits."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32, INT64
from acl_emu.core.soc import current
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.gated import halved, result_fits, split_axis
from aclnnop.activation.swiglu_rows import store
from aclnnop.quant.activated import SwigluMode, swiglu_in_mode
from aclnnop.quant.dequantised_units import (
    dequantised,
    groups_of_rows,
    has_one_of,
    mode_of,
    needed,
    per_row,
    rounded,
    scaled_rows,
    unneeded,
)
from aclnnop.quant.swi_glu_quant import Mode

Numbers = Annotated[Operand, In(FLOAT16, BF16, INT32, rank=(2, 8))]
Lines = Annotated[Operand | None, In(FLOAT, rank=(1, 2), optional=True)]
RowFactors = Annotated[Operand | None, In(FLOAT, rank=(1, 8), optional=True)]
Bias = Annotated[Operand | None, In(FLOAT, FLOAT16, BF16, INT32, rank=(1, 2), optional=True)]
PLAIN: dict[str, Any] = {"mode": SwigluMode.PLAIN, "limit": 7.0, "alpha": 1.702, "bias": 1.0}
MEMORY = 192 * 1024


@operator(products=frozenset({Product.A950, Product.A2}))
def aclnnDequantSwigluQuant(
    x: Numbers,
    weightScaleOptional: Lines,
    activationScaleOptional: RowFactors,
    biasOptional: Bias,
    quantScaleOptional: Lines,
    quantOffsetOptional: Lines,
    groupIndexOptional: Annotated[Operand | None, In(INT32, INT64, rank=1, optional=True, on={Product.A950: (INT64,)})],
    activateLeft: Bool,
    quantModeOptional: Mode,
    yOut: Annotated[Operand, Out(INT8, rank=(2, 8), const=True)],
    scaleOut: Annotated[Operand, Out(FLOAT, rank=(1, 7), const=True)],
) -> Plan:
    """Scale integers, gate one half of every row by the other, and quantise with the factors of each row's group."""
    factors = weightScaleOptional, activationScaleOptional, biasOptional, quantScaleOptional, quantOffsetOptional
    plan = dequantised_unit(
        x,
        factors,
        groupIndexOptional,
        quantModeOptional,
        yOut,
        scaleOut,
        axis=x.rank - 1,
        rounding="rint",
        unit={**PLAIN, "left": activateLeft},
    )
    if current().product is Product.A2:
        wide = (weightScaleOptional, biasOptional, quantScaleOptional, quantOffsetOptional)
        used = sum(size_of(one) for one in wide) + (size_of(activationScaleOptional) + size_of(scaleOut)) / 40
        used += x.shape[-1] * x.dtype.bits // 8 * 10
        with in_tiling():
            require(used < MEMORY, f"scales, bias and a row of x need {used:.0f} bytes, expected less than {MEMORY}")
    return plan


def size_of(operand: Operand | None) -> int:
    """In bytes."""
    return 0 if operand is None else operand.size * operand.dtype.bits // 8


def dequantised_unit(
    x: Operand,
    factors: tuple[Operand | None, Operand | None, Operand | None, Operand | None, Operand | None],
    groups: Operand | None,
    quant_mode: str | None,
    y: Operand,
    scales: Operand,
    *,
    axis: int,
    rounding: str,
    unit: dict[str, Any],
) -> Plan:
    """Rules and plan of both versions."""
    weight, activation, bias, quant, offset = factors
    mode = mode_of("quantModeOptional", quant_mode, "static")
    if x.dtype is INT32:
        needed(weight, "weightScaleOptional", "where x has dtype INT32")
    else:
        unneeded((weight, activation, bias), f"where x has dtype {x.dtype}")
    if mode == "static":
        needed(quant, "quantScaleOptional", "where quantModeOptional is static")
    split_axis(x, axis)
    last = axis == x.rank - 1
    if not last:
        require(mode == "static", f"quantModeOptional is {mode}, expected static where activateDim is not the last dimension")
        unneeded((groups,), "where activateDim is not the last dimension")
    count, length, width = 1 if groups is None else groups.shape[0], x.shape[-1], halved(x, axis)[-1]
    for operand in (weight, bias):
        has_one_of(operand, *(((length,), (1, length)) if count == 1 else ()), (count, length))
    has_one_of(activation, x.shape[:-1], (*x.shape[:-1], 1))
    shapes = (count,), (count, width), *(((1,),) if mode == "static" else ((width,),) if count == 1 else ())
    has_one_of(quant, *shapes)
    if quant is not None and mode == "static":
        has_one_of(offset, quant.shape)
    result_fits(x, axis, y)
    shape_is(scales, y.shape[:-1], "that of yOut without its last dimension")
    if not y.size:
        return nothing()
    target, dynamic = y.dtype, mode == "dynamic"
    rows = x.size // length

    def kernel(x: Array, *others: Any) -> None:
        weight, activation, bias, quant, offset, groups, y, scales = others
        group = groups_of_rows(groups, rows, count)
        lines = dequantised(x.reshape(rows, -1), weight, activation, bias, group)
        values = swiglu_in_mode(lines, 1, **unit) if last else swiglu_in_mode(lines.reshape(x.shape), axis, **unit).reshape(-1, width)
        of = group if last else np.zeros(len(values), int)
        if quant is not None:
            values = values * per_row(by_group(quant, count), of)
        if dynamic:
            found, values = scaled_rows(values, target)
            store(scales, found)
        elif offset is not None:
            values = values + per_row(by_group(offset, count), of)
        store(y, rounded(values, target, rounding))

    return direct(kernel, reads=(x, *factors, groups), writes=(y, scales), scratch={})


def by_group(factors: Array, count: int) -> Array:
    """A line for each group: one number, or one for each column."""
    return factors.reshape(count, -1) if factors.ndim == 1 and factors.size == count else factors


@aclnnDequantSwigluQuant.example
def examples() -> Iterator[Example]:
    """Integers with all that there is, and others; both modes, groups and none."""
    for dtype, mode, groups in ((INT32, "dynamic", [2, 1]), (FLOAT16, "static", None), (BF16, "dynamic", None), (INT32, None, None)):
        whole, count = dtype is INT32, len(groups or [1])
        static = mode != "dynamic"
        yield {
            "x": between(-90, 90, (4, 64), dtype, 1) if whole else numbers((4, 64), dtype, 1, 3),
            "weightScaleOptional": between(0.01, 0.1, (count, 64), FLOAT, 2) if whole else None,
            "activationScaleOptional": between(0.5, 1, (4,), FLOAT, 3) if whole else None,
            "biasOptional": numbers((count, 64), INT32 if groups else FLOAT, 4) if whole else None,
            "quantScaleOptional": between(0.5, 2, (1,) if static else (count, 32), FLOAT, 5),
            "quantOffsetOptional": numbers((1,), FLOAT, 6) if static else None,
            "groupIndexOptional": groups and np.array(groups),
            "activateLeft": whole,
            "quantModeOptional": mode,
            "yOut": np.zeros((4, 32), np.int8),
            "scaleOut": np.zeros(4, np.float32),
        }
