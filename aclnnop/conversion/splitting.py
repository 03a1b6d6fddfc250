"""What aclnnSplitTensor and aclnnSplitWithSize share."""

from __future__ import annotations

from collections.abc import Sequence

from acl_emu.spec import Operand, Plan, require, same_dtype, shape_is, together
from aclnnop.conversion.moves import copied, narrowed


def split(self: Operand, axis: int, sizes: Sequence[int], out: Sequence[Operand]) -> Plan:
    """The members of ``out`` are parts of ``self`` one behind the other, of these sizes."""
    require(len(out) == len(sizes), f"out has {len(out)} members, expected {len(sizes)}: one for each part")
    plans, start = [], 0
    for size, target in zip(sizes, out, strict=True):
        same_dtype(self, target)
        part = narrowed(self, axis, start, size)
        shape_is(target, part.shape, "that of its part")
        plans.append(copied(part, target))
        start += size
    return together(plans)
