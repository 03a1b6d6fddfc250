"""aclnnArgsort: where the elements are in order along a dimension."""

from typing import Annotated

from acl_emu.core.dtypes import INT64
from acl_emu.spec import Bool, In, Int, Operand, Out, Plan, operator
from aclnnop.math.ordering import SORTED, length_along, ordered, ordering_examples, with_unsigned
from aclnnop.math.reduction import NOT_310B


@operator(products=NOT_310B)
def aclnnArgsort(
    self: Annotated[Operand, In(*SORTED, on=with_unsigned(*SORTED))],
    dim: Int,
    descending: Bool,
    out: Annotated[Operand, Out(INT64)],
) -> Plan:
    """Find the indices that sort every slice along ``dim``; the order is a stable one."""
    return ordered(self, dim, range(length_along(self, dim)), self.shape, None, out, descending=descending)


aclnnArgsort.example(lambda: ordering_examples(aclnnArgsort, lambda dim, index: (3, 4, 5), descending=(False, True)))
