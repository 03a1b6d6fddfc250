"""aclnnAmax: the largest element along some dimensions."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, INT32
from acl_emu.core.formats import ANY_FORMAT
from acl_emu.spec import (
    ALL,
    Bool,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.math.arithmetic import REALS
from aclnnop.math.reduction import largest, reduced_axes, reduced_shape


@operator(products=ALL - {Product.A310B})
def aclnnAmax(
    self: Annotated[Operand, In(*REALS, formats=ANY_FORMAT)],
    dim: IntArrayIn,
    keepDim: Bool,
    out: Annotated[Operand, Out(*REALS, formats=ANY_FORMAT)],
) -> Plan:
    """Find the largest element of every slice along ``dim``."""
    same_dtype(self, out)
    axes = reduced_axes(dim, self, "dim")
    for axis in axes[: self.rank]:
        require(self.shape[axis] > 0, f"self has shape {list(self.shape)}, expected no length of 0 in dimension {axis}, which is reduced")
    shape = reduced_shape(self, axes, keepDim)
    shape_is(out, shape, "self without the reduced dimensions")
    return mapped(largest, reads=(self,), writes=(out,), dtype=self.dtype, axes=axes, shape=shape)


@aclnnAmax.example
def examples() -> Iterator[Example]:
    """One axis, several, all."""
    for dtype, dims, shape in ((FLOAT, [1], (3, 5)), (BF16, [-1, 0], (1, 4, 1)), (INT32, [], ())):
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "dim": dims, "keepDim": len(dims) > 1, "out": numbers(shape, dtype, 2)}
