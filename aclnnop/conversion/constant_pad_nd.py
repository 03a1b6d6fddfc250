"""aclnnConstantPadNd: a tensor with a border of one number."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, INT32
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    ScalarIn,
    direct,
    nothing,
    numbers,
    operator,
    promote_scalar,
    require,
    same_dtype,
    shape_is,
    together,
)
from aclnnop.conversion.moves import EVERY, WIDE, copied, narrowed
from aclnnop.math.conversion import converted


@operator(products=EVERY)
def aclnnConstantPadNd(self: Annotated[Operand, In(*WIDE)], pad: IntArrayIn, value: ScalarIn, out: Annotated[Operand, Out(*WIDE)]) -> Plan:
    """Put ``pad`` elements before and behind each of the last dimensions, the last one first; a negative number takes some away."""
    same_dtype(self, out)
    promote_scalar(self, value, "value")
    counts = pad.values
    require(
        len(counts) % 2 == 0 and len(counts) <= 2 * self.rank,
        f"pad has {len(counts)} values, expected two for each of at most {self.rank} dimensions",
    )
    shape, inner, target = list(self.shape), self, out
    for pair in range(len(counts) // 2):
        axis = self.rank - 1 - pair
        shape[axis] += counts[2 * pair] + counts[2 * pair + 1]
    require(all(length >= 0 for length in shape), f"pad is {pad}, which leaves the shape {shape} of self {list(self.shape)}")
    shape_is(out, shape, "self and the padding")
    if 0 in out.shape:
        return nothing()
    for pair in range(len(counts) // 2):
        axis = self.rank - 1 - pair
        before, behind = counts[2 * pair], counts[2 * pair + 1]
        kept = max(0, self.shape[axis] + min(before, 0) + min(behind, 0))
        inner = narrowed(inner, axis, max(-before, 0), kept)
        target = narrowed(target, axis, max(before, 0), kept)
    number = converted(np.asarray(value.value), self.dtype)[()]
    border = direct(fill, reads=(), writes=(out,), scratch={}, number=number)
    return together([border, copied(inner, target)])


@aclnnConstantPadNd.example
def examples() -> Iterator[Example]:
    """One dimension, two, and a border that is taken away."""
    for dtype, pad, shape in ((FLOAT, [1, 2], (3, 7)), (BF16, [0, 1, 2, 0], (5, 5)), (INT32, [-1, 2, 1, -1], (3, 5))):
        yield {"self": numbers((3, 4), dtype, 1, 9), "pad": pad, "value": 7, "out": numbers(shape, dtype, 2)}


def fill(out: Array, *, number: object) -> None:
    """Everywhere."""
    out[...] = number
