"""aclnnMaskedSelect: the elements that a mask chooses, in a row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, INT64, UINT8, UINT16, UINT32, UINT64
from acl_emu.core.soc import Product
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    between,
    broadcast_shape,
    length_is,
    nothing,
    numbers,
    operator,
    rank_in,
    same_dtype,
    sized,
)
from aclnnop.conversion.moves import EVERY
from aclnnop.index.gathering import REAL, except_on

ON = {Product.A950: (*REAL, UINT16, UINT32, UINT64), **except_on(REAL, (BF16,), Product.A910, Product.A310P)}


@operator(products=EVERY)
def aclnnMaskedSelect(
    self: Annotated[Operand, In(*REAL, on=ON)], mask: Annotated[Operand, In(UINT8, BOOL)], out: Annotated[Operand, Out(*REAL, on=ON)]
) -> Plan:
    """Write the elements where ``mask`` is true, one behind the other; ``out`` then has as many."""
    same_dtype(self, out)
    shape = broadcast_shape(self, mask)
    rank_in(out, 1)
    length_is(out, int(np.prod(shape)), "as many as self and mask broadcast to")
    if 0 in out.shape:
        return nothing()
    return sized(selected, reads=(self, mask), writes=(out,))


@aclnnMaskedSelect.example
def examples() -> Iterator[Example]:
    """Masks of both types, either tensor broadcast."""
    for dtype, mask, own, other, count in (
        (FLOAT, BOOL, (3, 4), (3, 4), 12),
        (BF16, UINT8, (4,), (3, 1), 12),
        (INT64, BOOL, (2, 3), (3,), 6),
        (BOOL, BOOL, (), (5,), 5),
        (DOUBLE, UINT8, (2, 3, 2), (1, 1, 1), 12),
    ):
        yield {"self": numbers(own, dtype, 1, 9), "mask": between(0, 2, other, mask, 2), "out": numbers((count,), dtype, 3)}


def selected(values: Array, mask: Array) -> Array:
    """In the order of the elements."""
    whole, chosen = np.broadcast_arrays(values, mask != 0)
    found: Array = whole[chosen]
    return found
