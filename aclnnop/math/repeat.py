"""aclnnRepeat: a tensor again and again along its dimensions."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, INT8
from acl_emu.core.errors import AclnnInnerNullptr
from acl_emu.spec import Example, In, IntArrayIn, Operand, Out, Plan, Product, nothing, numbers, operator, require, same_dtype, shape_is
from aclnnop.conversion.moves import EIGHTS, EVERY, WIDE, copied, window

NEWEST = {Product.A950: (*WIDE, *EIGHTS)}


@operator(products=EVERY)
def aclnnRepeat(
    self: Annotated[Operand, In(*WIDE, on=NEWEST)], repeats: IntArrayIn, out: Annotated[Operand, Out(*WIDE, on=NEWEST)]
) -> Plan:
    """Put a tensor side by side with itself ``repeats`` times along each dimension; dimensions are added in front."""
    same_dtype(self, out)
    times = repeats.values
    require(self.rank <= len(times) <= 8, f"repeats has {len(times)} values, expected {self.rank} to 8")
    require(all(count >= 0 for count in times), f"repeats is {repeats}, expected no negative value")
    own = (1,) * (len(times) - self.rank) + self.shape
    shape_is(out, [count * length for count, length in zip(times, own, strict=True)], "self times repeats")
    if 0 in out.shape:
        return nothing()
    most = 4 if times and times[0] != 1 else 3
    if sum(count != 1 for count in times) > most:
        raise AclnnInnerNullptr(f"repeats is {repeats}, expected at most {most} values other than 1")
    # Each dimension becomes two: the copies, which all read the same elements, and the elements of one copy.
    steps = (0,) * (len(times) - self.rank) + self.view.strides
    shape = [one for pair in zip(times, own, strict=True) for one in pair]
    source = window(self, shape, [one for step in steps for one in (0, step)])
    laid = [one for length, stride in zip(own, out.view.strides, strict=True) for one in (length * stride, stride)]
    return copied(source, window(out, shape, laid))


@aclnnRepeat.example
def examples() -> Iterator[Example]:
    """Along dimensions that there are, and along a new one."""
    for dtype, times, shape in ((FLOAT, [2, 1], (6, 4)), (BF16, [1, 3], (3, 12)), (INT8, [2, 1, 2], (2, 3, 8))):
        yield {"self": numbers((3, 4), dtype, 1, 9), "repeats": times, "out": numbers(shape, dtype, 2)}
