"""What operators that take elements by their places share."""

from __future__ import annotations

import math

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, DType
from acl_emu.core.soc import Product
from acl_emu.engine.calls import code_of, done_by, even_stride, stride_of
from acl_emu.spec import Array, Operand, Plan, direct, nothing
from aclnnop.index.places import within

PLACES = (INT64, INT32)
REAL = (FLOAT, FLOAT16, BF16, DOUBLE, INT64, INT32, INT16, INT8, UINT8, BOOL)
NUMBERS = (*REAL, COMPLEX64, COMPLEX128)

Types = tuple[DType, ...]

THREADED_BYTES = 1 << 17
"""What is worth a second thread."""


def except_on(types: Types, missing: Types, *products: Product) -> dict[Product, Types]:
    """The types of products that lack some."""
    return dict.fromkeys(products, tuple(dtype for dtype in types if dtype not in missing))


def gathered(self: Operand, index: Operand, out: Operand, axis: int, *, negative: bool = False, batch: int = 0) -> Plan:
    """``out`` is ``self`` with what ``index`` chooses along an axis in its place; the first ``batch`` axes of both go together."""
    if 0 in out.shape:
        return nothing()
    plan = direct(take_into, reads=(self, index), writes=(out,), scratch={}, axis=axis, name=index.name, negative=negative, batch=batch)
    return plan if batch else in_slices(plan, self, index, out, axis, negative=negative)


def in_slices(plan: Plan, self: Operand, index: Operand, out: Operand, axis: int, *, negative: bool) -> Plan:
    """The same plan, done in C where slices lie in one piece."""
    layout, places = self.view.layout, stride_of(index)
    shape, strides, item = layout.shape or (1,), layout.strides or (layout.dtype.itemsize,), layout.dtype.itemsize
    inner = math.prod(shape[axis + 1 :])
    outer = even_stride(shape[:axis], strides[:axis])
    whole = inner == 1 or even_stride(shape[axis + 1 :], strides[axis + 1 :]) == item
    if places is None or outer is None or not whole or not out.contiguous or self.dtype.bits < 8:
        return plan
    slices = (math.prod(shape[:axis]), shape[axis], index.size, inner * item, outer, strides[axis])
    numbers = (*slices, code_of(index.dtype), places, int(negative))
    return done_by("acl_emu_gather_slices", plan, numbers, threaded=out.size * item >= THREADED_BYTES)


def take_into(values: Array, index: Array, target: Array, *, axis: int, name: str, negative: bool, batch: int) -> None:
    """Whole rows at a time where memory allows."""
    places = within(index, values.shape[axis] if values.ndim else 1, name, negative=negative)
    if batch:
        target[...] = take_in_batches(values, places, axis, batch)
        return
    rows = values if values.ndim else values.reshape(1)
    if rows.flags.c_contiguous and target.flags.c_contiguous and not np.may_share_memory(rows, target):
        shape = (*rows.shape[:axis], *places.shape, *rows.shape[axis + 1 :])
        np.take(rows, places, axis, out=target.reshape(shape), mode="clip")
        return
    target[...] = rows[(slice(None),) * axis + (places,)].reshape(target.shape)


def take_in_batches(values: Array, places: Array, axis: int, batch: int) -> Array:
    """Row ``b`` of the indices chooses from row ``b`` of the values."""
    lead = math.prod(values.shape[:batch])
    rows = values.reshape(lead, *values.shape[batch:])
    chosen = places.reshape(lead, -1)
    moved = np.moveaxis(rows, axis - batch + 1, 1)[np.arange(lead)[:, np.newaxis], chosen]
    between = axis - batch
    found = np.moveaxis(moved, 1, 1 + between)
    return found.reshape(*values.shape[:axis], *places.shape[batch:], *values.shape[axis + 1 :])
