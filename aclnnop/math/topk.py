"""aclnnTopk: the largest or smallest elements along a dimension, and where they are."""

from typing import Annotated

from acl_emu.core.dtypes import DOUBLE, INT64
from acl_emu.spec import Bool, In, Int, Operand, Out, Plan, operator, require, same_dtype
from aclnnop.math.ordering import SORTED, along, length_along, ordered, ordering_examples, with_unsigned
from aclnnop.math.reduction import NOT_310B

TYPES = (*SORTED, DOUBLE)
ON_950 = with_unsigned(*TYPES)


@operator(products=NOT_310B)
def aclnnTopk(
    self: Annotated[Operand, In(*TYPES, on=ON_950)],
    k: Int,
    dim: Int,
    largest: Bool,
    sorted: Bool,
    valuesOut: Annotated[Operand, Out(*TYPES, on=ON_950)],
    indicesOut: Annotated[Operand, Out(INT64)],
) -> Plan:
    """Find the ``k`` largest or smallest elements of every slice along ``dim``, in order whether ``sorted`` or not."""
    same_dtype(self, valuesOut)
    length = length_along(self, dim)
    require(0 <= k <= length, f"k is {k}, expected a value in [0, {length}] for self of shape {list(self.shape)} along dim {dim}")
    return ordered(self, dim, range(k), along(self, dim, k), valuesOut, indicesOut, descending=largest)


aclnnTopk.example(
    lambda: ordering_examples(
        aclnnTopk,
        lambda dim, index: tuple(2 if axis == dim else length for axis, length in enumerate((3, 4, 5))),
        k=(2,),
        largest=(True, False),
        sorted=(True,),
    )
)
