"""aclnnExpand: a tensor that repeats itself along dimensions of length 1."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from acl_emu.spec import Example, In, IntArrayIn, Operand, Out, Plan, broadcasts_to, numbers, operator, require, same_dtype, shape_is
from aclnnop.conversion.moves import EVERY, copied, window

TYPES = (FLOAT16, FLOAT, UINT8, INT8, INT32, INT64, BOOL, BF16)


@operator(products=EVERY)
def aclnnExpand(self: Annotated[Operand, In(*TYPES)], size: IntArrayIn, out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Broadcast a tensor to ``size``; -1 keeps a dimension as it is, new ones are added in front."""
    same_dtype(self, out)
    added = len(size) - self.rank
    require(added >= 0 and len(size) <= 8, f"size has {len(size)} values, expected {self.rank} to 8")
    kept = (-1,) * added + self.shape
    shape = tuple(own if length == -1 else length for length, own in zip(size.values, kept, strict=True))
    require(all(length >= 0 for length in shape), f"size is {size}, expected no negative value but -1 for dimensions of self")
    broadcasts_to(shape, "size", self)
    shape_is(out, shape, "size")
    steps = (0,) * added + tuple(
        0 if own != length else stride for own, length, stride in zip(self.shape, shape[added:], self.view.strides, strict=True)
    )
    return copied(window(self, shape, steps), out)


@aclnnExpand.example
def examples() -> Iterator[Example]:
    """A dimension of length 1, and a new one."""
    for dtype, size, shape in ((FLOAT, [3, 4], (3, 4)), (BF16, [2, 3, -1], (2, 3, 4)), (BOOL, [-1, 4], (1, 4))):
        yield {"self": numbers((1, 4), dtype, 1, 9), "size": size, "out": numbers(shape, dtype, 2)}
