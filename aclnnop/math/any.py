"""aclnnAny: whether an element is true."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL, UINT8
from acl_emu.spec import Array, Bool, In, IntArrayIn, Operand, Out, Plan, operator
from aclnnop.math.reduction import ORDERED_OR_BOOL, reduced, reduced_axes, reduction_examples, without_bf16


@operator()
def aclnnAny(
    self: Annotated[Operand, In(*ORDERED_OR_BOOL, on=without_bf16(*ORDERED_OR_BOOL))],
    dim: IntArrayIn,
    keepdim: Bool,
    out: Annotated[Operand, Out(BOOL, UINT8)],
) -> Plan:
    """Tell of every slice along ``dim`` whether an element is not zero."""
    return reduced(some, self, reduced_axes(dim, self, "dim"), keepdim, out, dtype=self.dtype, of_none=0.0, raw=(out,))


aclnnAny.example(lambda: reduction_examples(aclnnAny))


def some(values: Array, *, axes: tuple[int, ...]) -> Array:
    """Whether any element of a slice is true; NaN is."""
    found: Array = np.any(values, axis=axes)
    return found
