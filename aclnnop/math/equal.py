"""aclnnEqual: whether two tensors have the same shape and the same elements."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL, FLOAT, INT32, UINT64
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, direct, numbers, operator, promote, shape_is
from aclnnop.math.binary import NOT_310B, ORDERED

OrderedIn = Annotated[Operand, In(*ORDERED)]


@operator(products=NOT_310B)
def aclnnEqual(self: OrderedIn, other: OrderedIn, out: Annotated[Operand, Out(BOOL)]) -> Plan:
    """Tell whether two tensors have the same shape and the same elements."""
    common = promote(self, other).compute
    shape_is(out, (1,))

    def compare(x: Array, y: Array, result: Array) -> None:
        result[...] = np.array_equal(x.astype(common), y.astype(common))

    return direct(compare, reads=(self, other), writes=(out,), scratch={})


@aclnnEqual.example
def examples() -> Iterator[Example]:
    """Tensors that are equal, that are not, and of different shapes."""
    for dtype, seed, shape in ((FLOAT, 1, (3, 4)), (INT32, 2, (3, 4)), (UINT64, 1, (3, 4)), (BOOL, 1, (4,))):
        yield {"self": numbers((3, 4), dtype, 1), "other": numbers(shape, dtype, seed), "out": numbers((1,), BOOL, 3)}
