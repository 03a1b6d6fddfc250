"""aclnnMax: the largest of all elements."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT, INT32, INT64
from acl_emu.spec import ALL, Example, In, Operand, Out, Plan, Product, castable, length_is, mapped, nothing, numbers, operator
from aclnnop.math.arithmetic import REALS
from aclnnop.math.reduction import largest


@operator(products=ALL - {Product.A310B})
def aclnnMax(self: Annotated[Operand, In(*REALS)], out: Annotated[Operand, Out(*REALS, rank=(0, 1))]) -> Plan:
    """Find the largest of all elements."""
    castable(self.dtype, out)
    length_is(out, 1, "a single number")
    if 0 in self.shape:
        return nothing()
    return mapped(largest, reads=(self,), writes=(out,), dtype=self.dtype, axes=tuple(range(self.rank)), shape=out.shape)


@aclnnMax.example
def examples() -> Iterator[Example]:
    """The type of the input, and a wider one."""
    for dtype, out in ((FLOAT, FLOAT), (INT32, INT64)):
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "out": numbers((1,), out, 2)}
