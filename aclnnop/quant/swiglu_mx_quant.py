"""aclnnSwigluMxQuant: a gated linear unit, 32 numbers of which share a power of two."""

import enum
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E8M0, FLOAT16
from acl_emu.spec import Array, Bool, Double, Example, In, Int, IntKind, Operand, Out, Plan, direct, nothing, numbers, operator, require
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.swiglu_rows import rows_taken
from aclnnop.quant.activated import Groups, SwigluMode, first_rows_in_blocks, require_algorithm, require_limit, swiglu_in_mode, unit_of
from aclnnop.quant.dynamic_mx_quant import NEWEST
from aclnnop.quant.microscaling import FOUR_BITS, RESULTS, UNIT, RoundMode, checked, in_blocks, scales_shape

MOST_GROUPS = 256


class GroupMode(enum.IntEnum):
    """What a list of groups holds."""

    COUNT = 0
    CUMSUM = 1


@operator(products=NEWEST)
def aclnnSwigluMxQuant(
    x: Annotated[Operand, In(FLOAT16, BF16, rank=(2, 7))],
    groupIndexOptional: Groups,
    activateDim: Int,
    activateLeft: Bool,
    swigluMode: Annotated[int, IntKind(choices=SwigluMode)],
    clampLimit: Double,
    gluAlpha: Double,
    gluBias: Double,
    groupMode: Annotated[int, IntKind(choices=GroupMode)],
    axis: Int,
    dstType: Int,
    roundModeOptional: RoundMode,
    scaleAlg: Int,
    maxDtypeValue: Double,
    yOut: Annotated[Operand, Out(*RESULTS, rank=(2, 7), const=True)],
    mxscaleOut: Annotated[Operand, Out(FLOAT8_E8M0, rank=(3, 8), const=True)],
) -> Plan:
    """Quantise the unit of ``x`` along ``axis``; ``mxscaleOut`` has the exponents, groups say how many rows count."""
    split, along = (one_of_last_two(name, value, x) for name, value in (("activateDim", activateDim), ("axis", axis)))
    last = x.rank - 1
    require_limit(swigluMode, clampLimit)
    whole_rows = swigluMode in (SwigluMode.PLAIN, SwigluMode.PAIRS)
    require(whole_rows or along == last, f"axis is {axis}, expected -1 where swigluMode is {swigluMode}")
    require(whole_rows or split == last, f"activateDim is {activateDim}, expected -1 where swigluMode is {swigluMode}")
    if groupIndexOptional is not None:
        count = groupIndexOptional.size
        require(1 <= count <= MOST_GROUPS, f"groupIndexOptional has {count} elements, expected 1 to {MOST_GROUPS}")
        flat = x.rank == 2 or split == along == last
        require(flat, f"x has {x.rank} dimensions, expected 2 where groupIndexOptional is given and an axis is not the last")
    require(maxDtypeValue >= 0, f"maxDtypeValue is {maxDtypeValue}, expected a value of at least 0")
    require_algorithm(scaleAlg, yOut)
    split_axis(x, split)
    result_fits(x, split, yOut)
    if yOut.dtype in FOUR_BITS:
        require(yOut.shape[-1] % 2 == 0, f"yOut has shape {list(yOut.shape)}, expected an even last dimension for dtype {yOut.dtype}")
    checked(unit_of(x, split), along, roundModeOptional, dstType, UNIT, scaleAlg, yOut, mxscaleOut)
    if not yOut.size:
        return nothing()
    settings: dict[str, Any] = {"rounding": roundModeOptional or "rint", "dtype": yOut.dtype, "codes": (scaleAlg, 0.0, 0.0)}
    unit: dict[str, Any] = {"mode": swigluMode, "left": activateLeft, "limit": clampLimit, "alpha": gluAlpha, "bias": gluBias}

    def kernel(x: Array, groups: Array | None, y: Array, scales: Array) -> None:
        values = swiglu_in_mode(x, split, **unit)
        if groups is None:
            in_blocks(values, y, scales, axis=along, block=UNIT, **settings)
        else:
            counts = groups[-1:] if groupMode == GroupMode.CUMSUM else groups
            rows = values.size // values.shape[-1]
            first_rows_in_blocks(values, rows_taken(counts, rows), y, scales, last=along == last, **settings)

    return direct(kernel, reads=(x, groupIndexOptional), writes=(yOut, mxscaleOut), scratch={})


def one_of_last_two(name: str, value: int, x: Operand) -> int:
    """The axis that a number names."""
    allowed = (-1, -2, x.rank - 2, x.rank - 1)
    require(value in allowed, f"{name} is {value}, expected one of {', '.join(map(str, allowed))}")
    return value % x.rank


@aclnnSwigluMxQuant.example
def examples() -> Iterator[Example]:
    """Every mode, both axes, both algorithms, all rows and some."""
    for dtype, mode, split, axis, groups, algorithm, target in (
        (BF16, 0, -1, -1, None, 0, FLOAT8_E4M3FN),
        (FLOAT16, 1, -1, -2, None, 1, FLOAT8_E5M2),
        (BF16, 2, -1, -1, [2, 1], 1, FLOAT8_E4M3FN),
        (FLOAT16, 3, -1, -1, [1, 3], 0, FLOAT8_E5M2),
        (BF16, 0, -2, -2, None, 0, FLOAT8_E4M3FN),
    ):
        half = (4, 35) if split == -1 else (2, 70)
        yield {
            "x": numbers((4, 70), dtype, 1, 3),
            "groupIndexOptional": groups and np.array(groups),
            "activateDim": split,
            "activateLeft": mode != 2,
            "swigluMode": mode,
            "clampLimit": 7.0,
            "gluAlpha": 1.702,
            "gluBias": 1.0,
            "groupMode": int(mode == 3),
            "axis": axis,
            "dstType": target.code,
            "roundModeOptional": None if algorithm else "rint",
            "scaleAlg": algorithm,
            "maxDtypeValue": 0.0,
            "yOut": np.zeros(half, target.numpy),
            "mxscaleOut": np.ones(scales_shape(half, axis % 2, UNIT), FLOAT8_E8M0.numpy),
        }
