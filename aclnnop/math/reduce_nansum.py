"""aclnnReduceNansum: sums along some dimensions of what is a number."""

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Array, Bool, DataType, In, IntArrayIn, Operand, Out, Plan, operator
from aclnnop.math.reduction import FLOATS, NEWER, dtype_of_out, reduced_axes, reduction_examples
from aclnnop.math.sums import summed

TYPES = (*FLOATS, INT8, INT16, INT32, INT64, UINT8, BOOL)


@operator(products=NEWER)
def aclnnReduceNansum(
    self: Annotated[Operand, In(*TYPES)],
    dim: IntArrayIn,
    keepDim: Bool,
    dtype: DataType,
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Add up the elements of every slice along ``dim``, converted to ``dtype`` first; NaN counts as 0."""
    axes = reduced_axes(dim, self, "dim")
    dtype_of_out(dtype, TYPES, out)
    return summed(without_nan, self, axes, keepDim, out)


aclnnReduceNansum.example(lambda: reduction_examples(aclnnReduceNansum))


def without_nan(values: Array) -> Array:
    """Zero in place of NaN."""
    if values.dtype.kind in "iub":
        return values
    return np.where(values != values, values.dtype.type(0), values)
