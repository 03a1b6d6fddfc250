"""aclnnConstantPadNd: a tensor with a border of one number."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from acl_emu.core.constants import ACL_FORMAT_ND
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E8M0, INT32, DType
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
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
from aclnnop.conversion.moves import EIGHTS, EVERY, WIDE, copied, narrowed
from aclnnop.math.conversion import converted
from aclnnop.math.narrow import encoded

NARROW = (*EIGHTS, FLOAT8_E8M0)
ON = {Product.A950: (*WIDE, *NARROW)}


@operator(products=EVERY)
def aclnnConstantPadNd(
    self: Annotated[Operand, In(*WIDE, on=ON)], pad: IntArrayIn, value: ScalarIn, out: Annotated[Operand, Out(*WIDE, on=ON)]
) -> Plan:
    """Put ``pad`` elements before and behind each of the last dimensions, the last one first; a negative number takes some away."""
    same_dtype(self, out)
    require(self.view.format in (ACL_FORMAT_ND, out.view.format), "out has another format than self, which is not ND")
    counts = pad.values
    if self.dtype in NARROW:
        require(value.dtype.kind != "complex", f"value has dtype {value.dtype}, which cannot be combined with that of self: {self.dtype}")
        require(all(count >= 0 for count in counts), f"pad is {pad}, expected no negative value for {self.dtype}")
    else:
        promote_scalar(self, value, "value")
    require(
        len(counts) % 2 == 0 and len(counts) <= 2 * self.rank,
        f"pad has {len(counts)} values, expected two for each of at most {self.rank} dimensions",
    )
    shape, inner, target = list(self.shape), self, out
    for pair in range(len(counts) // 2):
        axis = self.rank - 1 - pair
        shape[axis] += counts[2 * pair] + counts[2 * pair + 1]
    least = 1 if any(count > 0 for count in counts) else 0
    require(all(length >= least for length in shape), f"pad is {pad}, which leaves the shape {shape} of self {list(self.shape)}")
    shape_is(out, shape, "self and the padding")
    if 0 in out.shape:
        return nothing()
    slabs: list[tuple[slice, ...]] = []
    inside: list[slice] = [slice(None)] * (self.rank - len(counts) // 2)
    for pair in reversed(range(len(counts) // 2)):
        axis = self.rank - 1 - pair
        before, behind = counts[2 * pair], counts[2 * pair + 1]
        kept = max(0, self.shape[axis] + min(before, 0) + min(behind, 0))
        inner = narrowed(inner, axis, max(-before, 0), kept)
        target = narrowed(target, axis, max(before, 0), kept)
        start, end = max(before, 0), max(before, 0) + kept
        slabs += [(*inside, part) for part in (slice(0, start), slice(end, shape[axis])) if part.start < part.stop]
        inside.append(slice(start, end))
    number = in_few_bits(value, self.dtype) if self.dtype in NARROW else converted(np.asarray(value.value), self.dtype)[()]
    border = direct(fill, reads=(), writes=(out,), scratch={}, number=number, slabs=slabs) if slabs else nothing()
    return together([border, copied(inner, target)])


@aclnnConstantPadNd.example
def examples() -> Iterator[Example]:
    """One dimension, two, and a border that is taken away."""
    for dtype, pad, shape in ((FLOAT, [1, 2], (3, 7)), (BF16, [0, 1, 2, 0], (5, 5)), (INT32, [-1, 2, 1, -1], (3, 5))):
        yield {"self": numbers((3, 4), dtype, 1, 9), "pad": pad, "value": 7, "out": numbers(shape, dtype, 2)}


def in_few_bits(value: Scalar, dtype: DType) -> object:
    """A number as it lies in memory; 0 has no bits, also in a type that cannot hold it."""
    number = np.asarray(value.as_real())
    return (encoded(number, dtype) if number else np.zeros((), dtype.storage))[()]


def fill(out: Array, *, number: object, slabs: Sequence[tuple[slice, ...]]) -> None:
    """The border, slab by slab."""
    for slab in slabs:
        out[slab] = number
