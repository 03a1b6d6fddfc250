"""Sums of the rows that belong to one index, done in C where rows lie in one piece."""

from __future__ import annotations

import math
import struct

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine.calls import code_of, done_by, even_stride, stride_of
from acl_emu.spec import Operand, Plan

THREADED = 1 << 15
"""Numbers that are worth a second thread."""


def row_step(operand: Operand, axes: int) -> int | None:
    """Bytes between the rows along the first axes; None where they lie at several distances, or a row is not in one piece."""
    layout = operand.view.layout
    if math.prod(layout.shape[axes:]) > 1 and even_stride(layout.shape[axes:], layout.strides[axes:]) != layout.dtype.itemsize:
        return None
    return even_stride(layout.shape[:axes], layout.strides[:axes])


def summed(
    plan: Plan,
    index: Operand,
    source: Operand,
    target: Operand,
    self: Operand | None = None,
    *,
    factor: float = 1,
    padding: int = -1,
    mean: bool = False,
) -> Plan:
    """The same plan, of which each row of the target is the sum of the source rows that ``index`` says, times ``factor``, and of ``self``.

    ``padding`` is a row that is 0; ``mean``: sums are divided by the number of their terms.
    """
    if plan.kernel is None or not index.size or target.dtype not in (FLOAT, FLOAT16, BF16) or not target.rank:
        return plan
    steps = [row_step(source, index.rank), row_step(self or target, 1), row_step(target, 1)]
    even = stride_of(index)
    if even is None or None in steps:
        return plan
    last = len(plan.reads)  # what is written
    operands = [
        plan.reads.index(index),
        plan.reads.index(source),
        -1 if self is None else last if self is target else plan.reads.index(self),
        last,
    ]
    shape = (target.shape[0], index.size, source.size // index.size)
    layout = (code_of(target.dtype), *[step or 0 for step in steps], code_of(index.dtype), even)
    (bits,) = struct.unpack("q", struct.pack("d", factor))
    numbers = (*operands, *shape, *layout, padding, int(mean), bits)
    return done_by("acl_emu_sum_rows", plan, numbers, threaded=source.size >= THREADED)
