"""Gated units of numbers that are dequantised first and quantised behind: what their operators share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, HIFLOAT8, INT8, INT32, DType
from acl_emu.core.errors import AclnnNullptr, DeviceFault
from acl_emu.spec import Array, Operand, require
from aclnnop.activation.swiglu_rows import group_of_rows, rows_taken
from aclnnop.math.narrow import encoded
from aclnnop.quant import microscaling, narrowing
from aclnnop.quant.microscaling import FOUR_BITS, on_grid
from aclnnop.quant.narrowing import narrowed

MODES = ("static", "dynamic")
LARGEST = {**narrowing.LARGEST, **microscaling.LARGEST}


def mode_of(name: str, mode: str | None, default: str) -> str:
    """The word, or what null stands for."""
    found = mode or default
    require(found in MODES, f"{name} is {found!r}, expected one of {', '.join(MODES)}")
    return found


def needed(operand: Operand | None, name: str, when: str) -> None:
    """What a mode cannot do without."""
    if operand is None:
        raise AclnnNullptr(f"{name} must not be a null pointer {when}")


def unneeded(operands: Sequence[Operand | None], when: str) -> None:
    """What a mode has no use for."""
    for operand in operands:
        if operand is not None:
            require(False, f"{operand.name} is given, expected a null pointer {when}")


def has_one_of(operand: Operand | None, *shapes: tuple[int, ...]) -> None:
    """One of several shapes."""
    if operand is not None:
        known = " or ".join(str(list(shape)) for shape in dict.fromkeys(shapes))
        require(operand.shape in shapes, f"{operand.name} has shape {list(operand.shape)}, expected {known}")


def groups_of_rows(groups: Array | None, rows: int, count: int) -> Array:
    """The group of each row that counts: groups are sizes, or pairs of a number and a size."""
    if groups is None or groups.ndim == 1:
        return group_of_rows(groups, rows_taken(groups, rows))
    numbers, sizes = groups[:, 0], groups[:, 1]
    wrong = (numbers < 0) | (numbers >= count)
    if wrong.any():
        raise DeviceFault(f"groupIndexOptional names group {numbers[np.argmax(wrong)]}, expected one from 0 to {count - 1}")
    return np.asarray(numbers[group_of_rows(sizes, rows_taken(sizes, rows))])


def per_row(factors: Array, group: Array) -> Any:
    """What the rows of a group share, a line for each group; a single one is for all."""
    lines = factors.astype(np.float64).reshape(len(factors) if factors.ndim == 2 else 1, -1)
    return lines[group if len(lines) > 1 else np.zeros_like(group)]


def dequantised(rows: Array, weight: Array | None, activation: Array | None, bias: Array | None, group: Array) -> Array:
    """A whole bias is added before scaling, any other behind it."""
    values = rows[: len(group)].astype(np.float64)
    whole = bias is not None and bias.dtype.kind == "i"
    if bias is not None and whole:
        values = values + per_row(bias, group)
    if weight is not None:
        values = values * per_row(weight, group)
    if activation is not None:
        values = values * activation.astype(np.float64).reshape(-1, 1)[: len(group) if activation.size > 1 else 1]
    if bias is not None and not whole:
        values = values + per_row(bias, group)
    return values


def scaled_rows(values: Array, dtype: DType) -> tuple[Array, Array]:
    """What brings the largest magnitude of each row to that of the type; and the rows divided by it, in FLOAT."""
    scales = np.abs(values).max(axis=-1, keepdims=True, initial=0) / LARGEST[dtype]
    return scales[..., 0], np.where(scales == 0, 0, values / scales).astype(FLOAT.numpy)


def rounded(values: Array, dtype: DType, rounding: str) -> Array:
    """As they are stored; numbers beyond the range of four bits stay at its end."""
    if dtype not in FOUR_BITS:
        return narrowed(values, dtype)
    return encoded(np.clip(on_grid(values, dtype, rounding), -LARGEST[dtype], LARGEST[dtype]), dtype)


ROUNDINGS = {INT8: ("rint",), HIFLOAT8: ("round",), **dict.fromkeys(FOUR_BITS, ("rint", "round", "floor", "ceil", "trunc"))}
"""Of types of the result; all others have the first."""
INTEGERS = (INT32, INT8)
"""Types of numbers that need their scales."""
