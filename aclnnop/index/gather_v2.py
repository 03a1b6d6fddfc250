"""aclnnGatherV2: slices of a tensor along one dimension, by indices of any shape."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX128, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, between, numbers, operator, same_dtype, shape_is, wrap_dim
from aclnnop.conversion.moves import EVERY
from aclnnop.index.gathering import NUMBERS, PLACES, except_on, gathered

OLDER = except_on(NUMBERS, (BF16,), Product.A910, Product.A310P)


@operator(products=EVERY)
def aclnnGatherV2(
    self: Annotated[Operand, In(*NUMBERS, on=OLDER)],
    dim: Int,
    index: Annotated[Operand, In(*PLACES)],
    out: Annotated[Operand, Out(*NUMBERS, on=OLDER)],
) -> Plan:
    """Take the slices of ``self`` along ``dim`` that ``index`` chooses; its dimensions take the place of that one."""
    axis = wrap_dim(dim, self)
    same_dtype(self, out)
    chosen = index.shape if index.rank or out.rank < max(self.rank, 1) else (1,)
    shape_is(out, (*self.shape[:axis], *chosen, *self.shape[axis + 1 :]), "self with the shape of index along dim")
    return gathered(self, index, out, axis)


@aclnnGatherV2.example
def examples() -> Iterator[Example]:
    """Every dimension; indices of several dimensions, and of none."""
    for dtype, dim, places, shape, out in (
        (FLOAT, 0, INT64, (2, 2), (2, 2, 4, 5)),
        (FLOAT16, 1, INT32, (6,), (3, 6, 5)),
        (BF16, -1, INT64, (), (3, 4, 1)),
        (BOOL, -2, INT32, (2, 1, 2), (3, 2, 1, 2, 5)),
        (COMPLEX128, 2, INT64, (1,), (3, 4, 1)),
    ):
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "dim": dim, "index": between(0, 3, shape, places, 2), "out": numbers(out, dtype, 3)}
