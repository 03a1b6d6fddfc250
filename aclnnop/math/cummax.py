"""aclnnCummax: the largest of all elements up to each, and where it is."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import In, Int, Operand, Out, Plan, Product, castable, operator
from aclnnop.math.reduction import ORDERED_OR_BOOL
from aclnnop.math.scan import running_extreme, scan_examples, scanned


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnCummax(
    self: Annotated[Operand, In(*ORDERED_OR_BOOL)],
    dim: Int,
    valuesOut: Annotated[Operand, Out(*ORDERED_OR_BOOL)],
    indicesOut: Annotated[Operand, Out(INT32, INT64)],
) -> Plan:
    """Find the largest of all elements up to each along ``dim``, and the index of the last of them."""
    castable(self.dtype, valuesOut)
    return scanned(running_extreme(np.maximum), self, dim, valuesOut, indicesOut, dtype=self.dtype, raw=(indicesOut,))


aclnnCummax.example(lambda: scan_examples(aclnnCummax))
