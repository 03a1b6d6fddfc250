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
from acl_emu.runtime.executor import Remark
from acl_emu.spec import Array, Operand, Plan, direct, nothing, same_dtype, same_shape, wrap_dim
from aclnnop.conversion.moves import copied
from aclnnop.index.places import along, check_beside, check_no_longer, flat, outside, tuples, within


class Combine(enum.Enum):
    """What becomes of an element and the updates that meet there."""

    REPLACE = None
    ADD = np.add
    MULTIPLY = np.multiply
    DIVIDE = np.divide
    MAXIMUM = np.maximum
    MINIMUM = np.minimum


class Changes(NamedTuple):
    """What is written: ``target[key] = values``, the axes that ``key`` chooses from in front."""

    key: tuple[Array, ...]
    values: Array
    skipped: str = ""
    """What to say of an index that counts for nothing."""


Kernel = Callable[..., Changes]


def changed(
    kernel: Kernel,
    self: Operand,
    others: Sequence[Operand | None],
    out: Operand,
    *,
    axes: Sequence[int] = (0,),
    indices: str = "index",
    once: bool = False,
    **attributes: Any,
) -> Plan:
    """``out`` is ``self`` but for what ``kernel(self, *others, **attributes)`` says; ``axes`` are those that its key chooses from.

    ``once``: a place that is chosen twice is a mistake, of which who checks the program may tell; ``indices`` is the parameter.
    """
    if 0 in out.shape:
        return nothing()
    if any(other is not None and 0 in other.shape for other in others):
        return nothing() if out is self else copied(self, out)
    settings: dict[str, Any] = {"decide": kernel, "axes": tuple(axes), "attributes": attributes}
    plan = direct(change, reads=(self, *others), writes=(out,), scratch={}, apart=out is not self, **settings)
    plan.in_blocks = False  # a tensor may be input and output: nothing is read after the first write
    given = [True, *[other is not None for other in others]]

    def remarks(arrays: Sequence[Array]) -> list[Remark]:
        present = iter(arrays)
        return remarkable(*[next(present) if there else None for there in given], indices=indices, once=once, **settings)

    plan.remarks = remarks
    return plan


def change(*arrays: Any, apart: bool, decide: Kernel, axes: tuple[int, ...], attributes: dict[str, Any]) -> None:
    """Numbers count as rows of one."""
    *inputs, target = (array if array is None or array.ndim else array.reshape(1) for array in arrays)
    source, *others = inputs
    key, values, _ = decide(np.moveaxis(source, axes, range(len(axes))), *others, **attributes)
    if apart:
        values = values.copy() if np.may_share_memory(values, target) else values
        target[...] = source
    np.moveaxis(target, axes, range(len(axes)))[key] = values


def remarkable(*arrays: Any, indices: str, once: bool, decide: Kernel, axes: tuple[int, ...], attributes: dict[str, Any]) -> list[Remark]:
    """Indices that count for nothing, and a place that is written twice."""
    source, *others = (array if array is None or array.ndim else array.reshape(1) for array in arrays)
    moved = np.moveaxis(source, axes, range(len(axes)))
    key, _, skipped = decide(moved, *others, **attributes)
    found = [Remark("bad-index", indices, f"{skipped}; it counts for nothing")] if skipped else []
    if once and key and key[0].size:
        places = np.sort(flat(key, moved.shape[: len(key)]))
        twice = places[1:][places[1:] == places[:-1]]
        if twice.size:
            place = [int(i) for i in np.unravel_index(int(twice[0]), moved.shape[: len(key)])]
            found.append(Remark("repeated-index", indices, f"{place} is written more than once; here the last one stays"))
    return found


# Kernels


def elements(
    source: Array, index: Array, src: Array, *, axis: int, name: str, combine: Combine, with_self: bool = True, mean: bool = False
) -> Changes:
    """One update for each index along an axis."""
    key = along(within(index, source.shape[axis], name), axis)
    updates = src[tuple(slice(length) for length in index.shape)].reshape(-1)
    return merged(source, key, updates, combine, with_self=with_self, mean=mean)


def slices(
    source: Array, index: Array, updates: Array, *, name: str, combine: Combine, axis: int = 0, lenient: bool = False, factor: Any = None
) -> Changes:
    """One slice of ``updates`` for each index, multiplied by ``factor``; those of a row of indices lie along ``axis``.

    ``lenient``: an index that is outside counts for nothing.
    """
    ahead = np.moveaxis(updates, axis, 0) if axis else updates
    rows = ahead.reshape(index.size, *source.shape[1:])
    places = index.reshape(-1)
    skipped = outside(index, source.shape[0], name) if lenient else ""
    if skipped:
        inside = (places >= 0) & (places < source.shape[0])
        places, rows = places[inside], rows[inside]
    else:
        within(index, source.shape[0], name)
    return merged(source, (places.astype(np.int64),), rows if factor is None else scaled(rows, factor), combine)._replace(skipped=skipped)


def tuple_slices(source: Array, indices: Array, updates: Array, *, name: str, combine: Combine, lenient: bool = False) -> Changes:
    """One slice for each tuple of indices; ``lenient``: one that is outside counts for nothing."""
    count = indices.shape[-1]
    rows = updates.reshape(-1, *source.shape[count:])
    chosen = indices.reshape(-1, count)
    columns = (outside(indices[..., axis], source.shape[axis], name, behind=(axis,)) for axis in range(count) if lenient)
    skipped = next(filter(None, columns), "")
    if skipped:
        inside = ((chosen >= 0) & (chosen < np.array(source.shape[:count]))).all(axis=-1)
        chosen, rows = chosen[inside], rows[inside]
    else:
        tuples(indices, source.shape, name)
    key = [chosen[:, axis].astype(np.int64) for axis in range(count)]
    return merged(source, key, rows, combine)._replace(skipped=skipped)


# Plans


def scattered(self: Operand, dim: int, index: Operand, src: Operand, out: Operand, combine: Combine, **how: Any) -> Plan:
    """The plan of ``self`` with the elements of ``src``, as far as there are indices, at their places along ``dim``."""
    same_dtype(self, src, out)
    check_beside(self, index, src)
    same_shape(self, out)
    axis = wrap_dim(dim, self)
    check_no_longer(index, src)
    check_no_longer(index, self, axis)
    return changed(
        elements,
        self,
        (index, src),
        out,
        axes=range(max(self.rank, 1)),
        once=combine is Combine.REPLACE,
        axis=axis,
        name=index.name,
        combine=combine,
        **how,
    )


# Updates that meet


def merged(source: Array, key: Sequence[Array], updates: Array, combine: Combine, *, with_self: bool = True, mean: bool = False) -> Changes:
    """The element at each place of ``key`` combined with all updates for it, in order; without ``with_self`` the updates alone.

    ``mean``: a sum is divided by the number of its terms.
    """
    if combine is Combine.REPLACE or not updates.size:
        return Changes(tuple(key), updates)
    places = flat(key, source.shape[: len(key)])
    if combine is Combine.ADD and with_self and not mean and counts_fit(source, updates):
        return added_up(source, places, updates)
    order, starts = groups(places)
    own = tuple(one[order[starts]] for one in key)
    step = combine.value
    terms = widened(updates[order])
    if combine is Combine.DIVIDE:
        result = divided_in_turn(widened(source[own]), terms, starts)
    else:
        result = step.reduceat(terms, starts, axis=0)
        result = step(widened(source[own]), result) if with_self else result
    if mean:
        counts = np.diff(np.append(starts, order.size)) + with_self
        result = divided(result, counts.reshape(-1, *[1] * (result.ndim - 1)))
    return Changes(own, dtypes.round_to(np.asarray(result), dtypes.from_numpy(source.dtype)))


def counts_fit(source: Array, updates: Array) -> bool:
    """Whether single floating-point numbers are added, to not many more than there are: sums for all places are less work than an order."""
    return updates.ndim == 1 and source.size <= 4 * updates.size and dtypes.from_numpy(source.dtype).kind == "float"


def added_up(source: Array, places: Array, updates: Array) -> Changes:
    """Sums for all places, in the order of the updates."""
    sums = np.bincount(places, widened(updates), source.size)
    own = np.unravel_index(np.flatnonzero(np.bincount(places, minlength=source.size)), source.shape)
    result = widened(source[own]) + sums.reshape(source.shape)[own]
    return Changes(own, dtypes.round_to(result, dtypes.from_numpy(source.dtype)))


def groups(places: Array) -> tuple[Array, Array]:
    """The order in which the updates for one place follow each other, and where each such group begins in it."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    return order, np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def widened(values: Array) -> Array:
    """In the type that sums are taken in: integers and truth values as they are."""
    kind = dtypes.from_numpy(values.dtype).kind
    return values.astype(np.float64) if kind == "float" else values.astype(np.complex128) if kind == "complex" else values


def scaled(values: Array, factor: Any) -> Array:
    """Multiplied: floating-point numbers in float64, others in their own type."""
    wide = widened(values)
    product: Array = wide * np.asarray(factor).astype(wide.dtype)
    return product


def divided(values: Array, counts: Array) -> Array:
    """Integers are rounded down."""
    return np.floor_divide(values, counts) if values.dtype.kind in "iu" else values / counts


def divided_in_turn(values: Array, terms: Array, starts: Array) -> Array:
    """By one term after the other. Quotients of integers are cut off, which one division by the product does, too; by 0 they are 0."""
    if values.dtype.kind not in "iu":
        np.divide.at(values, np.repeat(np.arange(starts.size), np.diff(np.append(starts, len(terms)))), terms)
        return values
    product = np.multiply.reduceat(terms.astype(np.float64), starts, axis=0)
    whole: Array = np.trunc(np.where(product == 0, 0, values / np.where(product == 0, 1, product)))
    return whole.astype(np.int64)
