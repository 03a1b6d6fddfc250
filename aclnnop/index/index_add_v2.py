"""aclnnIndexAddV2: slices that are added along one dimension, with a mode that is faster on a device."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT16, INT32
from acl_emu.spec import ConstInt, Example, In, Int, Operand, Out, Plan, ScalarIn, operator, require
from aclnnop.conversion.moves import NEWER
from aclnnop.index.adding import added, examples
from aclnnop.index.gathering import PLACES, REAL

AnyIn = Annotated[Operand, In(*REAL)]
FAST = (FLOAT, FLOAT16, INT32, INT16, BF16)


@operator(products=NEWER)
def aclnnIndexAddV2(
    self: AnyIn,
    dim: ConstInt,
    index: Annotated[Operand, In(*PLACES, rank=1)],
    source: AnyIn,
    alpha: ScalarIn,
    mode: Int,
    out: Annotated[Operand, Out(*REAL)],
) -> Plan:
    """Add each slice of ``source`` along ``dim``, times ``alpha``, to the slice of ``self`` that ``index`` says.

    Mode 0 takes matrices of some types along their first dimension, and leaves ``alpha`` out.
    """
    plan = added(self, dim, index, source, alpha, out, with_alpha=mode != 0)
    if mode == 0:
        require(dim in (0, -2), f"dim is {dim}, expected 0 or -2 in mode 0")
        require(self.dtype in FAST, f"self has dtype {self.dtype}, expected one of {', '.join(map(str, FAST))} in mode 0")
        require(self.rank == 2, f"self has {self.rank} dimensions, expected 2 in mode 0")
    return plan


@aclnnIndexAddV2.example
def both_modes() -> Iterator[Example]:
    """The general mode, and the fast one."""
    for example in examples():
        yield {**example, "mode": 1}
    for example in examples(two_dimensional=True):
        yield {**example, "mode": 0}
