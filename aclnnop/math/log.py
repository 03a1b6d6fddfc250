"""aclnnLog and aclnnInplaceLog: the natural logarithm of every element."""

from typing import Annotated

import numpy as np

from acl_emu.core.constants import ACL_FORMAT_ND
from acl_emu.core.dtypes import BOOL, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import In, InOut, Operand, Out, Plan, operator
from aclnnop.math.unary import PRODUCTS, RESULTS, elementwise, examples_of

ND = (ACL_FORMAT_ND,)


@operator(products=PRODUCTS)
def aclnnLog(
    self: Annotated[Operand, In(BOOL, INT64, INT32, INT16, INT8, UINT8, *RESULTS, formats=ND)],
    out: Annotated[Operand, Out(*RESULTS, formats=ND)],
) -> Plan:
    """Take the natural logarithm of every element."""
    return elementwise(np.log, self, out)


aclnnLog.example(lambda: examples_of(aclnnLog))


@operator(products=PRODUCTS)
def aclnnInplaceLog(selfRef: Annotated[Operand, InOut(*RESULTS, const=False)]) -> Plan:
    """Replace every element by its natural logarithm."""
    return elementwise(np.log, selfRef, selfRef)


aclnnInplaceLog.example(lambda: examples_of(aclnnInplaceLog))
