"""aclnnSort: elements in order along a dimension, and where they were."""

from typing import Annotated

from acl_emu.core.dtypes import BOOL, DOUBLE, INT64
from acl_emu.spec import Bool, In, Int, Operand, Out, Plan, operator, same_dtype
from aclnnop.math.ordering import SORTED, length_along, ordered, ordering_examples, with_unsigned
from aclnnop.math.reduction import NOT_310B

TYPES = (*SORTED, BOOL, DOUBLE)
ON_950 = with_unsigned(*SORTED, BOOL)


@operator(products=NOT_310B)
def aclnnSort(
    self: Annotated[Operand, In(*TYPES, on=ON_950)],
    stable: Bool,
    dim: Int,
    descending: Bool,
    valuesOut: Annotated[Operand, Out(*TYPES, on=ON_950)],
    indicesOut: Annotated[Operand, Out(INT64)],
) -> Plan:
    """Sort every slice along ``dim``; the order is always a stable one."""
    same_dtype(self, valuesOut)
    ranks = range(length_along(self, dim))
    return ordered(self, dim, ranks, self.shape, valuesOut, indicesOut, descending=descending)


aclnnSort.example(lambda: ordering_examples(aclnnSort, lambda dim, index: (3, 4, 5), stable=(True, False), descending=(False, True)))
