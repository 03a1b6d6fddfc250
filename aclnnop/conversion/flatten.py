"""aclnnFlatten: a tensor as a matrix."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, INT8
from acl_emu.spec import ALL, Array, Example, In, Int, Operand, Out, Plan, numbers, operator, same_dtype, shape_is, wrap_dim
from aclnnop.conversion.moves import SIMPLE, rearranged


@operator(products=ALL)
def aclnnFlatten(self: Annotated[Operand, In(*SIMPLE)], axis: Int, out: Annotated[Operand, Out(*SIMPLE)]) -> Plan:
    """Merge the dimensions before ``axis`` into rows, and those from it on into columns."""
    same_dtype(self, out)
    place = wrap_dim(axis, self, "axis")
    shape = (math.prod(self.shape[:place]), math.prod(self.shape[place:]))
    shape_is(out, shape, "the dimensions before and from axis on")
    return rearranged(reshaped, (self,), out, shape=shape)


@aclnnFlatten.example
def examples() -> Iterator[Example]:
    """After the first dimension, before all, before the last."""
    for dtype, axis, shape in ((FLOAT, 1, (2, 12)), (INT8, 0, (1, 24)), (BF16, -1, (6, 4))):
        yield {"self": numbers((2, 3, 4), dtype, 1, 9), "axis": axis, "out": numbers(shape, dtype, 2)}


def reshaped(x: Array, *, shape: tuple[int, ...]) -> Array:
    """The elements in order."""
    return x.reshape(shape)
