"""aclnnSlice: some slices along a dimension."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, numbers, operator
from aclnnop.conversion.moves import TRAINING
from aclnnop.conversion.slicing import TYPES, sliced


@operator(products=TRAINING)
def aclnnSlice(
    self: Annotated[Operand, In(*TYPES, rank=(1, 8))],
    dim: Int,
    start: Int,
    end: Int,
    step: Int,
    out: Annotated[Operand, Out(*TYPES, rank=(1, 8))],
) -> Plan:
    """Take every ``step``-th slice from ``start`` to before ``end`` along ``dim``; both may be counted from the end."""
    return sliced(self, out, [(dim, start, end, step)])


@aclnnSlice.example
def examples() -> Iterator[Example]:
    """Along the first and the last dimension."""
    yield {"self": numbers((6, 4), FLOAT, 1), "dim": 0, "start": 1, "end": 6, "step": 2, "out": numbers((3, 4), FLOAT, 2)}
    yield {"self": numbers((3, 7), BF16, 1), "dim": -1, "start": -5, "end": 100, "step": 1, "out": numbers((3, 5), BF16, 2)}
