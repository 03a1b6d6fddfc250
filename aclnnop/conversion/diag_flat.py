"""aclnnDiagFlat: a matrix with all elements of a tensor on a diagonal."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, Product, numbers, operator, same_dtype
from aclnnop.conversion.diagonals import TYPES, on_diagonal
from aclnnop.conversion.moves import EVERY


@operator(products=EVERY - {Product.A950})
def aclnnDiagFlat(self: Annotated[Operand, In(*TYPES)], diagonal: Int, out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Put all elements on a diagonal of a matrix of zeros."""
    same_dtype(self, out)
    return on_diagonal(self, diagonal, out)


@aclnnDiagFlat.example
def examples() -> Iterator[Example]:
    """The main diagonal and another one."""
    for dtype, diagonal, side in ((FLOAT, 0, 4), (BF16, -2, 6)):
        yield {"self": numbers((2, 2), dtype, 1, 9), "diagonal": diagonal, "out": numbers((side, side), dtype, 2)}
