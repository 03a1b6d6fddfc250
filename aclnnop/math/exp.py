"""aclnnExp and aclnnInplaceExp: e to the power of every element."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL, INT64
from acl_emu.spec import In, InOut, Operand, Out, Plan, operator, require
from aclnnop.math.unary import PRODUCTS, RESULTS, elementwise, examples_of


@operator(products=PRODUCTS)
def aclnnExp(self: Annotated[Operand, In(*RESULTS, BOOL, INT64)], out: Annotated[Operand, Out(*RESULTS)]) -> Plan:
    """Raise e to the power of every element."""
    require(
        self.dtype in RESULTS or out.dtype.kind == "float",
        f"out has dtype {out.dtype}, expected a floating-point type where self has dtype {self.dtype}",
    )
    return elementwise(np.exp, self, out)


aclnnExp.example(lambda: examples_of(aclnnExp))


@operator(products=PRODUCTS)
def aclnnInplaceExp(selfRef: Annotated[Operand, InOut(*RESULTS, const=False)]) -> Plan:
    """Replace every element by e to its power."""
    return elementwise(np.exp, selfRef, selfRef)


aclnnInplaceExp.example(lambda: examples_of(aclnnInplaceExp))
