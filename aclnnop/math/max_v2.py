"""aclnnMaxV2: the largest element along some dimensions."""

from typing import Annotated

from acl_emu.spec import Bool, In, IntArrayIn, Operand, Out, Plan, castable, operator
from aclnnop.math.reduction import NOT_310B, ORDERED_OR_BOOL, largest, reduced, reduced_axes, reduction_examples, unreduced


@operator(products=NOT_310B)
def aclnnMaxV2(
    self: Annotated[Operand, In(*ORDERED_OR_BOOL)],
    dims: IntArrayIn,
    keepDims: Bool,
    noopWithEmptyDims: Bool,
    out: Annotated[Operand, Out(*ORDERED_OR_BOOL)],
) -> Plan:
    """Find the largest element of every slice along ``dims``; without any dimension of all, or of none with ``noopWithEmptyDims``."""
    castable(self.dtype, out)
    axes = reduced_axes(dims, self, "dims")
    if noopWithEmptyDims and not dims.values:
        return unreduced(self, out)
    return reduced(largest, self, axes, keepDims, out, dtype=self.dtype)


aclnnMaxV2.example(lambda: reduction_examples(aclnnMaxV2, noopWithEmptyDims=(False,)))
