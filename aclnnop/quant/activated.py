"""Gated units that are quantised with shared powers of two (MX): what their operators have in common."""

import enum
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT8_E8M0, FLOAT16, INT64
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import Array, In, Operand, Out, Plan, direct, require
from aclnnop.activation.gated import parts
from aclnnop.activation.swi_glu import swiglu
from aclnnop.activation.swiglu_rows import clipped_swiglu, late_clipped_swiglu, store
from aclnnop.quant.microscaling import FOUR_BITS, RESULTS, UNIT, checked, in_blocks, in_blocks_both_ways, scales_shape

Groups = Annotated[Operand | None, In(INT64, rank=1, optional=True)]
Matrix = Annotated[Operand, In(FLOAT16, BF16, rank=2)]
MatrixOut = Annotated[Operand, Out(*RESULTS, rank=2, const=True)]
MatrixScales = Annotated[Operand, Out(FLOAT8_E8M0, rank=3, const=True)]


class SwigluMode(enum.IntEnum):
    """How a unit is cut and clamped."""

    PLAIN = 0
    PAIRS = 1
    HALVES = 2
    LATE = 3


def require_limit(mode: int, limit: float) -> None:
    """Only the plain unit has no use for it."""
    fits = mode == SwigluMode.PLAIN or 0 < limit < np.inf
    require(fits, f"clampLimit is {limit}, expected a finite value above 0 where swigluMode is {mode}")


def cut(x: Array, axis: int, *, left: bool = True, interleaved: bool = False) -> tuple[Array, Array]:
    """The gate and what it is the gate of, in double precision."""
    along = np.moveaxis(x.astype(np.float64), axis, -1)
    half = along.shape[-1] // 2
    first, second = (along[..., ::2], along[..., 1::2]) if interleaved else (along[..., :half], along[..., half:])
    gate, linear = (first, second) if left else (second, first)
    return np.moveaxis(gate, -1, axis), np.moveaxis(linear, -1, axis)


def swiglu_in_mode(x: Array, axis: int, *, mode: int, left: bool, limit: float, alpha: float, bias: float) -> Any:
    """The unit of one of the modes; pairs have their gate in front whatever ``left`` says."""
    pairs = mode == SwigluMode.PAIRS
    gate, linear = cut(x, axis, left=left or pairs, interleaved=pairs)
    if mode == SwigluMode.PLAIN:
        return swiglu(gate, linear)
    if mode == SwigluMode.LATE:
        return late_clipped_swiglu(gate, linear, limit=limit)
    return clipped_swiglu(gate, linear, alpha=alpha, limit=limit, bias=bias)


def unit_of(x: Operand, axis: int) -> Operand:
    """What stands for the unit in checks: it has the type of ``x`` and the shape of a part."""
    return parts(x, axis)[0]


def require_algorithm(algorithm: int, y: Operand) -> None:
    """The published one, or for eight bits that which never overflows."""
    allowed = (0,) if y.dtype in FOUR_BITS else (0, 1)
    require(algorithm in allowed, f"scaleAlg is {algorithm}, expected one of {', '.join(map(str, allowed))} for {y.dtype}")


def not_empty(*operands: Operand | None) -> None:
    """Where empty tensors are refused."""
    for operand in operands:
        if operand is not None:
            require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected a tensor that is not empty")


def first_rows_in_blocks(values: Array, taken: int, y: Array, scales: Array, *, last: bool, **settings: Any) -> None:
    """Quantise the first rows along them or across; what lies behind them stays as it was."""
    rows = values.reshape(-1, values.shape[-1])
    axis = 1 if last else 0
    found = np.zeros(y.size // max(len(rows), 1) * taken, y.dtype)
    found_scales = np.ones(scales_shape((taken, rows.shape[1]), axis, UNIT), scales.dtype)
    in_blocks(rows[:taken], found, found_scales, axis=axis, block=UNIT, **settings)
    store(y, found)
    store(scales, found_scales)


def grouped_scales_shape(unit: Operand, groups: Operand | None) -> Shape | None:
    """Those of the last axis but one: every group of rows has places of its own."""
    if groups is None:
        return None
    return unit.shape[0] // (2 * UNIT) + groups.size, unit.shape[1], 2


def quantised_both_ways(
    activate: Any,
    reads: tuple[Operand, ...],
    unit: Operand,
    groups: Operand | None,
    codes: tuple[str | None, int, int],
    results: tuple[Operand, Operand, Operand, Operand],
) -> Plan:
    """Rules and plan of a unit that is quantised along its last axis, and, group by group, along the one before it."""
    rounding, target, algorithm = codes
    y1, scales1, y2, scales2 = results
    require_algorithm(algorithm, y1)
    checked(unit, -1, rounding, target, UNIT, algorithm, y1, scales1)
    checked(unit, -2, rounding, target, UNIT, algorithm, y2, scales2, places=grouped_scales_shape(unit, groups))
    settings: dict[str, Any] = {"rounding": rounding or "rint", "dtype": y1.dtype, "codes": (algorithm, 0.0, 0.0)}

    def kernel(*arrays: Any) -> None:
        *inputs, ends, first, first_scales, second, second_scales = arrays
        values = activate(*inputs)
        if ends is None:
            in_blocks_both_ways(values, first, first_scales, second, second_scales, **settings)
        else:
            in_blocks(values, first, first_scales, axis=1, block=UNIT, **settings)
            in_groups(values, ends, second, second_scales, **settings)

    return direct(kernel, reads=(*reads, groups), writes=results, scratch={})


def in_groups(values: Array, ends: Array, y: Array, scales: Array, **settings: Any) -> None:
    """Along the rows of each group; its scales begin behind as many pairs as fit in front of it, and one for each group before it."""
    rows = len(values)
    stops = np.maximum.accumulate(np.clip(ends, 0, rows))
    starts = np.concatenate(([0], stops[:-1]))
    scales.view(np.uint8)[...] = 0
    lines = y.reshape(rows, -1)
    for group, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        place = start // (2 * UNIT) + group
        pairs = -(-(stop - start) // (2 * UNIT))
        in_blocks(values[start:stop], lines[start:stop], scales[place : place + pairs], axis=0, block=UNIT, **settings)
