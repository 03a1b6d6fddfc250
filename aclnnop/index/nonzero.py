"""aclnnNonzero: where a tensor is not zero."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, INT64, UINT16, UINT32, UINT64
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, Operand, Out, Plan, operator, rank_in, require, sized
from aclnnop.conversion.moves import EVERY
from aclnnop.index.coordinates import TYPES, check_lengths, coordinates, sparse
from aclnnop.index.gathering import except_on

ON = {
    **except_on(TYPES, (BF16, UINT16, UINT32, UINT64), Product.A910, Product.A310P),
    **except_on(TYPES, (UINT16, UINT32, UINT64), Product.A3, Product.A2),
}


@operator(products=EVERY)
def aclnnNonzero(self: Annotated[Operand, In(*TYPES, on=ON)], out: Annotated[Operand, Out(INT64, rank=2)]) -> Plan:
    """Write the coordinates of every element that is not zero, one row for each; ``out`` then has as many rows."""
    check_lengths(self)
    rank_in(out, 2)
    require(
        out.shape[1] == self.rank, f"out has shape {list(out.shape)}, expected a coordinate for each of the {self.rank} dimensions of self"
    )
    return sized(coordinates, reads=(self,), writes=(out,))


@aclnnNonzero.example
def examples() -> Iterator[Example]:
    """Some zeros among the elements, and none."""
    for dtype, shape in ((FLOAT, (3, 4)), (BOOL, (2, 3, 2)), (INT64, (7,)), (BF16, (2, 2))):
        yield {"self": sparse(shape, dtype), "out": np.full((int(np.prod(shape)), len(shape)), -1)}
