"""Gated linear units over rows, of which a list of group sizes may take only the first: what the grouped and quantised operators share."""

import math
from typing import Any

import numpy as np

from acl_emu.core.dtypes import from_numpy, round_to
from acl_emu.spec import CHOICE, DTYPE, FORMAT, NULL, RANK, Array, Operand, Operator
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.curves import swish, swish_slope


def ranks(operator: Operator, values: tuple[Any, ...]) -> None:
    """Numbers of dimensions are looked at by the tiling."""
    with in_tiling():
        RANK(operator, values)


RANKS_IN_TILING = (NULL, DTYPE, FORMAT, ranks, CHOICE)
"""The order of checks where only types are the library's own business."""


def row_count(operand: Operand, axis: int) -> int:
    """Rows are what lies before the axis that is cut."""
    return math.prod(operand.shape[:axis])


def rows_taken(counts: Array | None, rows: int) -> int:
    """The sum of the groups' sizes, at most all rows; all where there are no groups."""
    return rows if counts is None else min(max(int(counts.sum()), 0), rows)


def as_rows(x: Array, rows: int) -> Array:
    """The elements in double precision, row by row."""
    return np.asarray(x, np.float64).reshape(rows, -1)


def split(rows: Array, *, interleaved: bool = False, left: bool = True) -> tuple[Array, Array]:
    """The gate and what it is the gate of: even and odd elements, or the halves of every row."""
    if interleaved:
        return rows[:, ::2], rows[:, 1::2]
    half = rows.shape[1] // 2
    first, second = rows[:, :half], rows[:, half:]
    return (first, second) if left else (second, first)


def joined(gate: Array, linear: Array, *, interleaved: bool = False) -> Array:
    """Rows of both, as ``split`` takes them apart."""
    return np.stack((gate, linear), axis=2).reshape(len(gate), -1) if interleaved else np.concatenate((gate, linear), axis=1)


def put(out: Array, rows: Array) -> None:
    """Store the first rows of a result, rounded once; those behind them stay as they were."""
    store(out, round_to(rows, from_numpy(out.dtype)))


def group_of_rows(counts: Array | None, taken: int) -> Array:
    """Which group a row belongs to."""
    if counts is None:
        return np.zeros(taken, int)
    return np.minimum(np.searchsorted(np.cumsum(counts), np.arange(taken), side="right"), len(counts) - 1)


def store(target: Array, rows: Array) -> None:
    """The first rows of a result; those behind them stay as they were."""
    stored = target.copy().reshape(-1)
    stored[: rows.size] = rows.reshape(-1)
    target[...] = stored.reshape(target.shape)


def clamped(gate: Array, linear: Array, limit: float) -> tuple[Array, Array]:
    """The gate from above, the other from both sides."""
    return np.minimum(gate, limit), np.clip(linear, -limit, limit)


def clipped_swiglu(gate: Array, linear: Array, *, alpha: float, limit: float, bias: float) -> Any:
    """Clamped first."""
    gate, linear = clamped(gate, linear, limit)
    return swish(gate, alpha) * (linear + bias)


def late_clipped_swiglu(gate: Array, linear: Array, *, limit: float) -> Any:
    """The gate is clamped behind its activation."""
    gate, linear = clamped(swish(gate), linear, limit)
    return gate * linear


def clipped_gradients(
    grad: Array, gate: Array, linear: Array, *, alpha: float = 1.0, limit: float = math.inf, bias: float = 0.0, at_limit: bool
) -> tuple[Array, Array]:
    """Of ``clipped_swiglu``; ``at_limit``: whether an element at a limit has a slope."""
    low, high = clamped(gate, linear, limit)
    inside = np.less_equal if at_limit else np.less
    first = np.where(inside(gate, limit), grad * (high + bias) * swish_slope(low, alpha), 0)
    second = np.where(inside(-limit, linear) & inside(linear, limit), grad * swish(low, alpha), 0)
    return first, second
