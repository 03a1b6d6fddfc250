"""What operators that write elements by their places share.

A kernel says where something changes, and to what: ``Changes``. Everything that can be wrong is found before the output is written.
Where several updates meet at one place, they are combined in the order in which they come: floating-point numbers in float64, rounded once.
Where one replaces another, the last one stays.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core import dtypes
from acl_emu.spec import Array, Operand, Plan, direct, nothing
from aclnnop.conversion.moves import copied
from aclnnop.index.places import flat


class Combine(enum.Enum):
    """What becomes of an element and the updates that meet there."""

    REPLACE = None
    ADD = np.add
    MULTIPLY = np.multiply
    MAXIMUM = np.maximum
    MINIMUM = np.minimum


class Changes(NamedTuple):
    """What is written: ``target[key] = values``, the axes that ``key`` chooses from in front."""

    key: tuple[Array, ...]
    values: Array


Kernel = Callable[..., Changes]


def changed(
    kernel: Kernel, self: Operand, others: Sequence[Operand | None], out: Operand, *, axes: Sequence[int] = (0,), **attributes: Any
) -> Plan:
    """``out`` is ``self`` but for what ``kernel(self, *others, **attributes)`` says; ``axes`` are those that its key chooses from."""
    if 0 in out.shape:
        return nothing()
    if any(other is not None and 0 in other.shape for other in others):
        return nothing() if out is self else copied(self, out)
    apart = out is not self
    plan = direct(
        change, reads=(self, *others), writes=(out,), scratch={}, decide=kernel, apart=apart, axes=tuple(axes), attributes=attributes
    )
    plan.in_blocks = False  # a tensor may be input and output: nothing is read after the first write
    return plan


def change(*arrays: Any, decide: Kernel, apart: bool, axes: tuple[int, ...], attributes: dict[str, Any]) -> None:
    """Numbers count as rows of one."""
    *inputs, target = (array if array is None or array.ndim else array.reshape(1) for array in arrays)
    source, *others = inputs
    key, values = decide(np.moveaxis(source, axes, range(len(axes))), *others, **attributes)
    if apart:
        values = values.copy() if np.may_share_memory(values, target) else values
        target[...] = source
    np.moveaxis(target, axes, range(len(axes)))[key] = values


def merged(source: Array, key: Sequence[Array], updates: Array, combine: Combine, *, with_self: bool = True, mean: bool = False) -> Changes:
    """The element at each place of ``key`` combined with all updates for it, in order; without ``with_self`` the updates alone.

    ``mean``: a sum is divided by the number of its terms.
    """
    if combine is Combine.REPLACE:
        return Changes(tuple(key), updates)
    order, starts = groups(flat(key, source.shape[: len(key)]))
    own = tuple(one[order[starts]] for one in key)
    step = combine.value
    result = step.reduceat(widened(updates[order]), starts, axis=0)
    if with_self:
        result = step(widened(source[own]), result)
    if mean:
        counts = np.diff(np.append(starts, order.size)) + with_self
        result = divided(result, counts.reshape(-1, *[1] * (result.ndim - 1)))
    return Changes(own, dtypes.round_to(np.asarray(result), dtypes.from_numpy(source.dtype)))


def groups(places: Array) -> tuple[Array, Array]:
    """The order in which the updates for one place follow each other, and where each such group begins in it."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    return order, np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def widened(values: Array) -> Array:
    """In the type that sums are taken in: whole numbers and truth values as they are."""
    kind = dtypes.from_numpy(values.dtype).kind
    return values.astype(np.float64) if kind == "float" else values.astype(np.complex128) if kind == "complex" else values


def divided(values: Array, counts: Array) -> Array:
    """Whole numbers are rounded down."""
    return np.floor_divide(values, counts) if values.dtype.kind in "iu" else values / counts
