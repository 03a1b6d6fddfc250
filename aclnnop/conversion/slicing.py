"""What slices share: where they start and end along a dimension."""

from __future__ import annotations

from collections.abc import Sequence

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from acl_emu.spec import Operand, Plan, require, same_dtype, shape_is, wrap_dim
from aclnnop.conversion.moves import copied, narrowed

TYPES = (FLOAT, FLOAT16, BF16, INT32, INT64, INT8, UINT8, BOOL)


def bounds(length: int, start: int, end: int, step: int) -> tuple[int, int]:
    """The first index and the number of indices: counted from either end, cut off at both."""
    first, last, _ = slice(start, end, step).indices(length)
    return first, len(range(first, last, step))


def sliced(self: Operand, out: Operand, cuts: Sequence[tuple[int, int, int, int]]) -> Plan:
    """``out`` is what is left of ``self`` by all cuts: dim, start, end and step."""
    same_dtype(self, out)
    found = self
    for dim, start, end, step in cuts:
        axis = wrap_dim(dim, self)
        require(step > 0, f"step is {step}, expected a value of at least 1")
        first, count = bounds(found.shape[axis], start, end, step)
        found = narrowed(found, axis, first, count, step)
    shape_is(out, found.shape, "that of the slice")
    return copied(found, out)
