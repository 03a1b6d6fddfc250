"""aclnnIndexAdd: slices that are added along one dimension, by their numbers."""

from typing import Annotated

from acl_emu.spec import ConstInt, In, Operand, Out, Plan, ScalarIn, operator
from aclnnop.conversion.moves import NEWER
from aclnnop.index.adding import added, examples
from aclnnop.index.gathering import PLACES, REAL

AnyIn = Annotated[Operand, In(*REAL)]


@operator(products=NEWER)
def aclnnIndexAdd(
    self: AnyIn,
    dim: ConstInt,
    index: Annotated[Operand, In(*PLACES, rank=(0, 1))],
    source: AnyIn,
    alpha: ScalarIn,
    out: Annotated[Operand, Out(*REAL)],
) -> Plan:
    """Add each slice of ``source`` along ``dim``, times ``alpha``, to the slice of ``self`` that ``index`` says."""
    return added(self, dim, index, source, alpha, out)


aclnnIndexAdd.example(examples)
