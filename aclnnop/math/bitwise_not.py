"""aclnnBitwiseNot: every bit of every element inverted."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL
from acl_emu.spec import In, Operand, Out, Plan, operator, same_dtype, same_shape
from aclnnop.math.binary import NOT_310B, applied
from aclnnop.math.predicate import predicate_examples
from aclnnop.math.unary import INTEGRAL


@operator(products=NOT_310B)
def aclnnBitwiseNot(self: Annotated[Operand, In(*INTEGRAL)], out: Annotated[Operand, Out(*INTEGRAL)]) -> Plan:
    """Invert every bit of every element; truth values have one."""
    same_dtype(self, out)
    same_shape(self, out)
    is_truth = self.dtype is BOOL
    return applied(np.logical_not if is_truth else np.invert, (self,), self.dtype, out, is_truth=is_truth)


aclnnBitwiseNot.example(lambda: predicate_examples(aclnnBitwiseNot))
