"""aclnnSWhere: of every pair of elements the one that a condition chooses."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, INT32, UINT8, UINT64
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, between, numbers, operator, promote, shape_is
from aclnnop.math.binary import EVERY, NOT_310B, applied, result_shape

EveryIn = Annotated[Operand, In(*EVERY)]


@operator(products=NOT_310B)
def aclnnSWhere(
    condition: Annotated[Operand, In(UINT8, BOOL)], self: EveryIn, other: EveryIn, out: Annotated[Operand, Out(*EVERY)]
) -> Plan:
    """Take the element of ``self`` where the condition holds, else that of ``other``."""
    dtype = promote(self, other)
    shape_is(out, result_shape(condition, self, other), "that of the result")
    return applied(chosen, (condition, self, other), dtype, out, masks=(condition,))


def chosen(condition: Array, x: Array, y: Array) -> Array:
    """The formula."""
    return np.where(condition != 0, x, y)


@aclnnSWhere.example
def examples() -> Iterator[Example]:
    """Conditions of both types, tensors that broadcast, of several types."""
    for mask, first, second, out in (
        (BOOL, FLOAT, FLOAT, FLOAT),
        (UINT8, INT32, FLOAT, FLOAT),
        (BOOL, COMPLEX64, FLOAT, COMPLEX64),
        (BOOL, UINT64, UINT64, UINT64),
        (UINT8, BF16, BF16, BF16),
        (BOOL, BOOL, BOOL, INT32),
    ):
        yield {
            "condition": between(0, 2, (4, 5), mask, 1),
            "self": numbers((3, 4, 5), first, 2, 9),
            "other": numbers((3, 4, 1), second, 3, 9),
            "out": numbers((3, 4, 5), out, 4),
        }
