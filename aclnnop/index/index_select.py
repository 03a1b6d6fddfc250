"""aclnnIndexSelect: slices of a tensor along one dimension, by their numbers."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX128, FLOAT, FLOAT16, INT32, INT64, UINT16, UINT32, UINT64
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, between, numbers, operator, require, same_dtype, shape_is, wrap_dim
from aclnnop.conversion.moves import EVERY
from aclnnop.index.gathering import NUMBERS, PLACES, except_on, gathered

TYPES = (*NUMBERS, UINT16, UINT32, UINT64)
OLDER = except_on(TYPES, (BF16,), Product.A910, Product.A310P)


@operator(products=EVERY)
def aclnnIndexSelect(
    self: Annotated[Operand, In(*TYPES, on=OLDER)],
    dim: Int,
    index: Annotated[Operand, In(*PLACES, rank=(0, 1))],
    out: Annotated[Operand, Out(*TYPES, on=OLDER)],
) -> Plan:
    """Take the slices of ``self`` along ``dim`` that ``index`` chooses, in its order."""
    same_dtype(self, out)
    axis = wrap_dim(dim, self)
    require(self.rank > 0 or index.size == 1, f"index has {index.size} elements, expected 1: self has no dimension")
    shape = (*self.shape[:axis], index.size, *self.shape[axis + 1 :]) if self.rank else ()
    shape_is(out, shape, "self with as many slices along dim as index has elements")
    return gathered(self, index.in_view(index.shape or (1,), index.view.strides or (1,)), out, axis)


@aclnnIndexSelect.example
def examples() -> Iterator[Example]:
    """Every dimension, counted from either end."""
    for dtype, dim, places, shape in (
        (FLOAT, 0, INT64, (6, 4, 5)),
        (FLOAT16, 1, INT32, (3, 6, 5)),
        (BF16, -1, INT64, (3, 4, 6)),
        (BOOL, -2, INT32, (3, 6, 5)),
        (COMPLEX128, 2, INT64, (3, 4, 6)),
    ):
        yield {
            "self": numbers((3, 4, 5), dtype, 1, 9),
            "dim": dim,
            "index": between(0, 3, (6,), places, 2),
            "out": numbers(shape, dtype, 3),
        }
