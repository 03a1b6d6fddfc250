"""aclnnSplitTensor: a tensor in parts of one size."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Example, In, Int, IntKind, ListOf, Operand, Out, Plan, numbers, operator, require, wrap_dim
from aclnnop.conversion.moves import EVERY, WIDE
from aclnnop.conversion.splitting import split


@operator(products=EVERY)
def aclnnSplitTensor(
    self: Annotated[Operand, In(*WIDE, rank=(1, 8))],
    splitSections: Annotated[int, IntKind("uint64_t")],
    dim: Int,
    out: Annotated[list[Operand], ListOf(Out(*WIDE, rank=(1, 8)))],
) -> Plan:
    """Cut a tensor along ``dim`` into parts of ``splitSections`` slices; the last one may be smaller."""
    axis = wrap_dim(dim, self)
    length = self.shape[axis]
    require(
        (splitSections > 0) == (length > 0),
        f"splitSections is {splitSections}, expected {'a value of at least 1' if length else 0} for the length of dim {axis}: {length}",
    )
    sizes = [min(splitSections, length - start) for start in range(0, length, splitSections)] if length else [0]
    return split(self, axis, sizes, out)


@aclnnSplitTensor.example
def examples() -> Iterator[Example]:
    """Parts of two slices, the last one of one."""
    for dtype in (FLOAT, BF16):
        out = [numbers((3, size), dtype, 2) for size in (2, 2, 1)]
        yield {"self": numbers((3, 5), dtype, 1, 9), "splitSections": 2, "dim": 1, "out": out}
