"""aclnnCummin: the smallest of all elements up to each, and where it is."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import In, Int, Operand, Out, Plan, castable, operator
from aclnnop.math.reduction import ORDERED_OR_BOOL, without_bf16
from aclnnop.math.scan import running_extreme, scan_examples, scanned


@operator()
def aclnnCummin(
    self: Annotated[Operand, In(*ORDERED_OR_BOOL, on=without_bf16(*ORDERED_OR_BOOL))],
    dim: Int,
    valuesOut: Annotated[Operand, Out(*ORDERED_OR_BOOL, on=without_bf16(*ORDERED_OR_BOOL))],
    indicesOut: Annotated[Operand, Out(INT32, INT64)],
) -> Plan:
    """Find the smallest of all elements up to each along ``dim``, and the index of the last of them."""
    castable(self.dtype, valuesOut)
    return scanned(running_extreme(np.minimum), self, dim, valuesOut, indicesOut, dtype=self.dtype, raw=(indicesOut,))


aclnnCummin.example(lambda: scan_examples(aclnnCummin))
