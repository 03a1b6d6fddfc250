"""aclnnIndexFillTensor: a number in the slices that an array of the host chooses."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT32, INT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Example, HandleKind, In, Int, IntArrayIn, Operand, Out, Plan, in_place, numbers, operator, require
from aclnnop.conversion.moves import NEWER, WIDE
from aclnnop.index.filling import TYPES, check_fill, filled


@operator(products=NEWER)
def aclnnIndexFillTensor(
    self: Annotated[Operand, In(*TYPES)],
    dim: Int,
    index: IntArrayIn,
    value: Annotated[Scalar, HandleKind(Scalar, *WIDE)],
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Set the slices along ``dim`` that ``index`` chooses to ``value``."""
    axis = check_fill(self, dim, out)
    length = self.shape[axis] if self.rank else 1
    for number in index.values:
        require(-length <= number < length, f"index holds {number}, expected values in [{-length}, {length - 1}] for dim {dim} of self")
    return filled(self, axis, None, value, out, places=tuple(index.values))


aclnnInplaceIndexFillTensor = in_place(aclnnIndexFillTensor)


@aclnnIndexFillTensor.example
def examples() -> Iterator[Example]:
    """Every dimension; some indices, and none."""
    for dtype, dim, index, value in (
        (FLOAT, 1, [0, 2], 10.0),
        (FLOAT16, 0, [1], 2),
        (BF16, -1, [3, 3], -0.5),
        (INT32, -2, [], 7),
        (INT64, 0, [-1, 0], 2**40),
        (BOOL, 1, [1], True),
    ):
        yield {"self": numbers((3, 4), dtype, 1, 9), "dim": dim, "index": index, "value": value, "out": numbers((3, 4), dtype, 2)}
