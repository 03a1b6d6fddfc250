"""aclnnUnique2: the different elements of a tensor, and how often they occur."""

from typing import Annotated

from acl_emu.core.dtypes import INT64
from acl_emu.spec import Bool, In, Operand, Out, Plan, operator, same_dtype, same_shape, shape_is
from aclnnop.index.uniqueness import TYPES, unique, unique_examples
from aclnnop.math.reduction import NEWER


@operator(products=NEWER)
def aclnnUnique2(
    self: Annotated[Operand, In(*TYPES)],
    sorted: Bool,
    returnInverse: Bool,
    returnCounts: Bool,
    valueOut: Annotated[Operand, Out(*TYPES)],
    inverseOut: Annotated[Operand, Out(INT64)],
    countsOut: Annotated[Operand, Out(INT64)],
) -> Plan:
    """Find the different elements, in order whether ``sorted`` or not, where each element went, and how often each occurs."""
    same_dtype(self, valueOut)
    if returnInverse:
        shape_is(inverseOut, self.shape, "as self")
    if returnCounts:
        same_shape(valueOut, countsOut)
    return unique(self, None, valueOut, inverseOut if returnInverse else None, countsOut if returnCounts else None, adjacent=False)


aclnnUnique2.example(lambda: unique_examples(aclnnUnique2, {"valueOut": (12,), "inverseOut": (4, 3), "countsOut": (12,)}))
