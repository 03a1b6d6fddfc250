"""aclnnDiag: the diagonal of a matrix, or a matrix with a diagonal."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, INT64
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, numbers, operator, require, same_dtype, shape_is
from aclnnop.conversion.diagonals import TYPES, on_diagonal
from aclnnop.conversion.moves import EVERY, rearranged


@operator(products=EVERY)
def aclnnDiag(self: Annotated[Operand, In(*TYPES, rank=(1, 2))], diagonal: Int, out: Annotated[Operand, Out(*TYPES, rank=(1, 2))]) -> Plan:
    """Take a diagonal of a matrix, or put a vector on one of a matrix of zeros."""
    same_dtype(self, out)
    if self.rank == 1:
        return on_diagonal(self, diagonal, out)
    rows, columns = self.shape
    require(
        -rows <= diagonal <= columns,
        f"diagonal is {diagonal}, expected a value in [{-rows}, {columns}] for {rows} rows",
    )
    count = max(0, min(rows + min(diagonal, 0), columns - max(diagonal, 0)))
    shape_is(out, (count,), "the elements of the diagonal")
    return rearranged(taken, (self,), out, diagonal=diagonal)


@aclnnDiag.example
def examples() -> Iterator[Example]:
    """From a matrix and from a vector, beside the main diagonal too."""
    for dtype, shape, diagonal, result in ((FLOAT, (3, 4), 0, (3,)), (BF16, (3, 4), -1, (2,)), (INT64, (3,), 1, (4, 4))):
        yield {"self": numbers(shape, dtype, 1, 9), "diagonal": diagonal, "out": numbers(result, dtype, 2)}


def taken(x: Array, *, diagonal: int) -> Array:
    """As it lies."""
    return np.diagonal(x, diagonal)
