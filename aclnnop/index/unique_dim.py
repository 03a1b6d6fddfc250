"""aclnnUniqueDim: the different slices of a tensor, and how often they occur."""

from typing import Annotated

from acl_emu.core.dtypes import INT64
from acl_emu.spec import Bool, In, Int, Operand, Out, Plan, operator, same_dtype, wrap_dim
from aclnnop.index.uniqueness import TYPES, unique, unique_examples
from aclnnop.math.reduction import NEWER


@operator(products=NEWER)
def aclnnUniqueDim(
    self: Annotated[Operand, In(*TYPES)],
    sorted: Bool,
    returnInverse: Bool,
    dim: Int,
    valueOut: Annotated[Operand, Out(*TYPES)],
    inverseOut: Annotated[Operand, Out(INT64)],
    countsOut: Annotated[Operand, Out(INT64)],
) -> Plan:
    """Find the different slices at the indices of ``dim``, in order whether ``sorted`` or not, where each went and how often it occurs."""
    same_dtype(self, valueOut)
    return unique(self, wrap_dim(dim, self), valueOut, inverseOut if returnInverse else None, countsOut, adjacent=False)


aclnnUniqueDim.example(lambda: unique_examples(aclnnUniqueDim, {"valueOut": (4, 3), "inverseOut": (4,), "countsOut": (4,)}, dim=(0,)))
