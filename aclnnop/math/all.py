"""aclnnAll: whether all elements are true."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL, UINT8
from acl_emu.spec import Array, Bool, In, IntArrayIn, Operand, Out, Plan, operator
from aclnnop.math.reduction import ORDERED_OR_BOOL, reduced, reduced_axes, reduction_examples, without_bf16


@operator()
def aclnnAll(
    self: Annotated[Operand, In(*ORDERED_OR_BOOL, on=without_bf16(*ORDERED_OR_BOOL))],
    dim: IntArrayIn,
    keepdim: Bool,
    out: Annotated[Operand, Out(BOOL, UINT8)],
) -> Plan:
    """Tell of every slice along ``dim`` whether no element is zero."""
    return reduced(every, self, reduced_axes(dim, self, "dim"), keepdim, out, dtype=self.dtype, of_none=1.0, raw=(out,))


aclnnAll.example(lambda: reduction_examples(aclnnAll))


def every(values: Array, *, axes: tuple[int, ...]) -> Array:
    """Whether all elements of a slice are true; NaN is."""
    found: Array = np.all(values, axis=axes)
    return found
