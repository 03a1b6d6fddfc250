"""aclnnKthvalue: the k-th smallest element along a dimension, and where it is."""

from typing import Annotated

from acl_emu.core.dtypes import INT64
from acl_emu.spec import Bool, In, Int, Operand, Out, Plan, operator, require, same_dtype, wrap_dim
from aclnnop.math.ordering import SORTED, length_along, ordered, ordering_examples, with_unsigned
from aclnnop.math.reduction import NOT_310B, reduced_shape

ON_950 = with_unsigned(*SORTED)


@operator(products=NOT_310B)
def aclnnKthvalue(
    self: Annotated[Operand, In(*SORTED, on=ON_950)],
    k: Int,
    dim: Int,
    keepdim: Bool,
    valuesOut: Annotated[Operand, Out(*SORTED, on=ON_950)],
    indicesOut: Annotated[Operand, Out(INT64)],
) -> Plan:
    """Find the ``k``-th smallest element of every slice along ``dim``, counted from 1."""
    same_dtype(self, valuesOut)
    length = length_along(self, dim)
    require(1 <= k <= length, f"k is {k}, expected a value in [1, {length}] for self of shape {list(self.shape)} along dim {dim}")
    shape = reduced_shape(self, (wrap_dim(dim, self),), keepdim)
    return ordered(self, dim, range(k - 1, k), shape, valuesOut, indicesOut, descending=False)


aclnnKthvalue.example(
    lambda: ordering_examples(
        aclnnKthvalue,
        lambda dim, index: tuple(1 if axis == dim else length for axis, length in enumerate((3, 4, 5)) if index % 2 or axis != dim),
        k=(2, 3),
        keepdim=(False, True),
    )
)
