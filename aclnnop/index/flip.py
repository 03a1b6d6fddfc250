"""aclnnFlip: elements in reverse order along some dimensions."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    cast_directly,
    mapped,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    wrap_dim,
)
from aclnnop.conversion.moves import mirrored

TYPES = (FLOAT16, FLOAT, INT32, INT16, INT64, BOOL, INT8, UINT8, DOUBLE, COMPLEX64, COMPLEX128, BF16)


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnFlip(self: Annotated[Operand, In(*TYPES)], dims: IntArrayIn, out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Reverse the order of the elements along ``dims``."""
    same_dtype(self, out)
    same_shape(self, out)
    axes = tuple(wrap_dim(dim, self, "dims") for dim in dims.values)
    require(len(set(axes)) == len(axes), f"dims is {dims}, expected every dimension once for {self.name} of shape {list(self.shape)}")
    if 0 in out.shape:
        return nothing()
    axes = axes if self.rank else ()
    plan = mapped(flipped, reads=(self,), writes=(out,), dtype=self.dtype, raw=(self,), axes=axes)
    # Memory is best read upwards: rows are written in reverse order, and only elements that lie side by side are read so.
    beside = [axis for axis in axes if self.view.strides[axis] == 1]
    return cast_directly(plan, (mirrored(self, beside), mirrored(out, [axis for axis in axes if axis not in beside])))


@aclnnFlip.example
def examples() -> Iterator[Example]:
    """One axis, several, counted from either end, none."""
    for dtype, dims in ((FLOAT, [0]), (BF16, [-1, 0]), (INT64, [1, 2, 0]), (COMPLEX64, []), (BOOL, [-2])):
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "dims": dims, "out": numbers((3, 4, 5), dtype, 2)}


def flipped(values: Array, *, axes: tuple[int, ...]) -> Array:
    """A copy: ``out`` may be ``self``."""
    return np.flip(values, axes).copy()
