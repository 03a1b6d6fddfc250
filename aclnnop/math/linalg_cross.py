"""aclnnLinalgCross: cross products."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    broadcast_shape,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
    wrap_dim,
)

TYPES = (INT8, INT16, INT32, INT64, UINT8, FLOAT16, BF16, FLOAT, DOUBLE, COMPLEX64, COMPLEX128)
CrossIn = Annotated[Operand, In(*TYPES)]


@operator(products=ALL)
def aclnnLinalgCross(self: CrossIn, other: CrossIn, dim: Int, out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Multiply vectors of three elements, which lie along ``dim``."""
    same_dtype(self, other, out)
    shape = broadcast_shape(self, other)
    shape_is(out, shape, "that self and other broadcast to")
    axis = wrap_dim(dim, self) - self.rank
    length = shape[axis] if shape else 1
    require(length == 3, f"self and other have {length} elements along dim {dim}, expected 3")
    wide = DOUBLE if self.dtype is FLOAT else COMPLEX128 if self.dtype is COMPLEX64 else self.dtype
    return mapped(cross, reads=(self, other), writes=(out,), dtype=wide, shape=shape, axis=axis)


def cross(left: Array, right: Array, *, shape: tuple[int, ...], axis: int) -> Array:
    """Every element by the two others; what follows the third is the first."""
    x, y = (np.moveaxis(np.broadcast_to(array, shape), axis, 0) for array in (left, right))
    found = [x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3] for i in range(3)]
    return np.moveaxis(np.stack(found), 0, axis)


@aclnnLinalgCross.example
def examples() -> Iterator[Example]:
    """Each kind of type; vectors that broadcast, and that lie along any dimension."""
    for dtype, first, second, dim in (
        (FLOAT, (4, 3), (4, 3), -1),
        (FLOAT16, (3, 4), (3, 1), 0),
        (INT32, (2, 3, 4), (3, 4), 1),
        (COMPLEX64, (4, 3), (1, 3), 1),
    ):
        shape = np.broadcast_shapes(first, second)
        yield {"self": numbers(first, dtype, 1, 9), "other": numbers(second, dtype, 2, 9), "dim": dim, "out": numbers(shape, dtype, 3)}
