"""aclnnPermute: dimensions in another order."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, COMPLEX128, FLOAT, INT8
from acl_emu.spec import Example, In, IntArrayIn, Operand, Out, Plan, Product, numbers, operator, require, same_dtype, shape_is
from aclnnop.conversion.moves import EIGHTS, TRAINING, WIDE, copied, window, wrapped_axes

ON = {Product.A950: (*WIDE, *EIGHTS), Product.A910: tuple(dtype for dtype in WIDE if dtype not in (COMPLEX128, BF16))}


@operator(products=TRAINING | {Product.A310P})
def aclnnPermute(self: Annotated[Operand, In(*WIDE, on=ON)], dims: IntArrayIn, out: Annotated[Operand, Out(*WIDE, on=ON)]) -> Plan:
    """Put the dimensions in the order of ``dims``."""
    same_dtype(self, out)
    require(len(dims) == self.rank, f"dims has {len(dims)} values, expected {self.rank}: one for each dimension of self")
    axes = wrapped_axes(dims, self, "dims") if self.rank else ()
    permuted = window(self, [self.shape[axis] for axis in axes], [self.view.strides[axis] for axis in axes])
    shape_is(out, permuted.shape, "that of self in the order of dims")
    return copied(permuted, out)


@aclnnPermute.example
def examples() -> Iterator[Example]:
    """Orders of two and three dimensions, counted from either end."""
    for dtype, dims, shape in (
        (FLOAT, [1, 0, 2], (4, 3, 5)),
        (BF16, [-1, 0, 1], (5, 3, 4)),
        (INT8, [2, 1, 0], (5, 4, 3)),
    ):
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "dims": dims, "out": numbers(shape, dtype, 2)}
