"""aclnnUnique: the different elements of a tensor."""

from typing import Annotated

from acl_emu.core.dtypes import INT64
from acl_emu.spec import Bool, In, Operand, Out, Plan, operator, require, same_dtype, shape_is
from aclnnop.index.uniqueness import TYPES, unique, unique_examples
from aclnnop.math.reduction import NEWER


@operator(products=NEWER)
def aclnnUnique(
    self: Annotated[Operand, In(*TYPES)],
    sorted: Bool,
    returnInverse: Bool,
    valueOut: Annotated[Operand, Out(*TYPES)],
    inverseOut: Annotated[Operand, Out()],
) -> Plan:
    """Find the different elements, in order whether ``sorted`` or not, and where each element went."""
    same_dtype(self, valueOut)
    if returnInverse:
        shape_is(inverseOut, self.shape, "as self")
        require(inverseOut.dtype is INT64, f"inverseOut has dtype {inverseOut.dtype}, expected {INT64} where returnInverse is true")
    return unique(self, None, valueOut, inverseOut if returnInverse else None, None, adjacent=False)


aclnnUnique.example(lambda: unique_examples(aclnnUnique, {"valueOut": (12,), "inverseOut": (4, 3)}))
