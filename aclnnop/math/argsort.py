"""aclnnArgsort: where the elements are in order along a dimension."""

from typing import Annotated

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, INT64
from acl_emu.spec import Bool, In, Int, Operand, Out, Plan, Product, operator, require
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
    length = length_along(self, dim)
    require(
        self.dtype is not BF16 or length != 1 or soc.current().product not in (Product.A2, Product.A3),
        f"self has dtype {BF16} and one element along dim {dim}, expected another length on {soc.current().name}",
    )
    return ordered(self, dim, range(length), self.shape, None, out, descending=descending)


aclnnArgsort.example(lambda: ordering_examples(aclnnArgsort, lambda dim, index: (3, 4, 5), descending=(False, True)))
