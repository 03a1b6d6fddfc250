"""aclnnSplitWithSize: a tensor in parts of given sizes."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT, INT64
from acl_emu.spec import Example, In, Int, IntArrayIn, ListOf, Operand, Out, Plan, numbers, operator, require, wrap_dim
from aclnnop.conversion.moves import TRAINING, WIDE
from aclnnop.conversion.splitting import split


@operator(products=TRAINING)
def aclnnSplitWithSize(
    self: Annotated[Operand, In(*WIDE, rank=(1, 8))],
    splitSize: IntArrayIn,
    dim: Int,
    out: Annotated[list[Operand], ListOf(Out(*WIDE, rank=(1, 8)))],
) -> Plan:
    """Cut a tensor along ``dim`` into parts of the sizes ``splitSize``."""
    axis = wrap_dim(dim, self)
    fits = all(size >= 0 for size in splitSize.values) and sum(splitSize.values) == self.shape[axis]
    require(fits, f"splitSize is {splitSize}, expected sizes that add up to the length of dim {axis}: {self.shape[axis]}")
    return split(self, axis, splitSize.values, out)


@aclnnSplitWithSize.example
def examples() -> Iterator[Example]:
    """Parts of different sizes, along the first and the last dimension."""
    for dtype, dim in ((FLOAT, 0), (INT64, -1)):
        shapes = ((1, 5), (4, 5)) if dim == 0 else ((5, 1), (5, 4))
        yield {"self": numbers((5, 5), dtype, 1, 9), "splitSize": [1, 4], "dim": dim, "out": [numbers(shape, dtype, 2) for shape in shapes]}
