"""aclnnNonzeroV2: where a tensor is not zero, one row for each dimension."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, INT64
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, operator, rank_in, sized
from aclnnop.conversion.moves import EVERY
from aclnnop.index.coordinates import TYPES, check_lengths, coordinates, sparse
from aclnnop.index.gathering import except_on

OLDER = except_on(TYPES, (BF16,), Product.A910, Product.A310P)


@operator(products=EVERY)
def aclnnNonzeroV2(self: Annotated[Operand, In(*TYPES, on=OLDER)], out: Annotated[Operand, Out(INT64, rank=2)]) -> Plan:
    """Write the coordinates of every element that is not zero, one column for each; ``out`` then has as many columns."""
    check_lengths(self)
    rank_in(out, 2)
    return sized(columns, reads=(self,), writes=(out,))


@aclnnNonzeroV2.example
def examples() -> Iterator[Example]:
    """Some zeros among the elements."""
    for dtype, shape in ((FLOAT, (3, 4)), (BOOL, (2, 3, 2)), (INT64, (7,)), (BF16, (2, 2))):
        yield {"self": sparse(shape, dtype), "out": np.full((len(shape), int(np.prod(shape))), -1)}


def columns(values: Array) -> Array:
    """In the order of the elements."""
    return coordinates(values).T
