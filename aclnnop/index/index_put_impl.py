"""aclnnIndexPutImpl: values that are written or added where index tensors and masks choose."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.core.soc import Product
from acl_emu.spec import (
    Array,
    ConstBool,
    Example,
    In,
    InOut,
    ListOf,
    Operand,
    Plan,
    broadcast_shape,
    broadcasts_to,
    nothing,
    numbers,
    operator,
    same_dtype,
)
from aclnnop.conversion.moves import TRAINING
from aclnnop.index.chosen import as_rows, covered_axes, first_axes, places
from aclnnop.index.gathering import REAL, except_on
from aclnnop.index.places import within
from aclnnop.index.row_sums import summed
from aclnnop.index.scattering import Changes, Combine, changed, merged, widened

OLDER = except_on(REAL, (BF16,), Product.A910)


@operator(products=TRAINING)
def aclnnIndexPutImpl(
    selfRef: Annotated[Operand, InOut(*REAL, on=OLDER, const=False)],
    indices: Annotated[list[Operand | None], ListOf(In(optional=True))],
    values: Annotated[Operand, In(*REAL, on=OLDER)],
    accumulate: ConstBool,
    unsafe: ConstBool,
) -> Plan:
    """Write ``values`` to the elements that ``indices`` choose, as aclnnIndex does, or add them there."""
    same_dtype(selfRef, values)
    self, members = as_rows(selfRef, indices)
    axes = first_axes(self, members)
    if not any(members) and any(indices):  # an index of nothing
        return nothing()
    covered, before = covered_axes(members, axes)
    integers = [member for member in members if member is not None and member.dtype is not BOOL]
    left = [length for axis, length in enumerate(self.shape) if axis not in covered]
    if not any(member is not None and member.dtype is BOOL for member in members):
        common = broadcast_shape(*integers) if integers else ()
        broadcasts_to((*left[:before], *common, *left[before:]), "that of what indices choose", values)
    plan = changed(
        put,
        self,
        (values, *members),
        self,
        axes=covered,
        indices="indices",
        once=not accumulate,
        firsts=tuple(axes),
        lengths=self.shape,
        names=tuple(member.name if member else "" for member in members),
        before=before,
        combine=Combine.ADD if accumulate else Combine.REPLACE,
    )
    rows = members[0] if accumulate and covered == [0] and integers else None
    if rows is None or values.shape != (*rows.shape, *self.shape[1:]):
        return plan
    return summed(plan, rows, values, self, self)


@aclnnIndexPutImpl.example
def examples() -> Iterator[Example]:
    """Indices for all dimensions and for some, negative ones, null between, masks; values that broadcast; written and added."""
    mask = np.arange(12).reshape(3, 4) % 5 == 0
    calls = (
        (FLOAT, [places(3, (2,)), places(4, (2,)), places(5, (2,))], (2,), True),
        (BF16, [None, places(4, (2, 3))], (3, 2, 3, 5), True),
        (INT64, [np.array([[2], [0]]), None, np.array([1, 4, 0], np.int32)], (3, 4), False),
        (BOOL, [mask], (3, 5), False),
        (DOUBLE, [mask], (1,), True),
        (FLOAT16, [None, np.array([True, False, True, True])], (3, 3, 5), True),
        (INT32, [np.array([1])], (4, 5), False),
    )
    for dtype, indices, shape, accumulate in calls:
        yield {
            "selfRef": numbers((3, 4, 5), dtype, 1, 9),
            "indices": indices,
            "values": numbers(shape, dtype, 2, 9),
            "accumulate": accumulate,
            "unsafe": False,
        }


def put(
    source: Array,
    values: Array,
    *members: Array | None,
    firsts: tuple[int, ...],
    lengths: tuple[int, ...],
    names: tuple[str, ...],
    before: int,
    combine: Combine,
) -> Changes:
    """Masks become the coordinates of what they choose; what indices broadcast to has one update for each of its places."""
    coordinates: list[Array] = []
    for member, first, name in zip(members, firsts, names, strict=True):
        if member is not None and member.dtype == np.bool_:
            coordinates += np.nonzero(member)
        elif member is not None:
            coordinates.append(within(member, lengths[first], name, negative=True))
    left = source.shape[len(coordinates) :]
    try:
        common = np.broadcast_shapes(*[one.shape for one in coordinates])
        updates = np.broadcast_to(values, (*left[:before], *common, *left[before:]))
    except ValueError:
        chosen = [list(one.shape) for one in coordinates]
        raise DeviceFault(f"values has shape {list(values.shape)}, which does not fit what indices choose: {chosen}") from None
    if not coordinates:
        dtype = dtypes.from_numpy(source.dtype)
        return Changes((), updates if combine is Combine.REPLACE else dtypes.round_to(widened(source) + widened(updates), dtype))
    ahead = np.moveaxis(updates, range(before, before + len(common)), range(len(common)))
    key = [np.broadcast_to(one, common).reshape(-1) for one in coordinates]
    return merged(source, key, ahead.reshape(math.prod(common), *left), combine)
