"""aclnnArgMax: where the largest element along a dimension is."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    mapped,
    nothing,
    numbers,
    operator,
    shape_is,
    wrap_dim,
)
from aclnnop.math.reduction import reduced_shape

TYPES = (FLOAT, FLOAT16, BF16, DOUBLE, INT8, INT16, INT32, INT64, UINT8)


@operator(products=ALL - {Product.A310B})
def aclnnArgMax(self: Annotated[Operand, In(*TYPES)], dim: Int, keepdim: Bool, out: Annotated[Operand, Out(INT32, INT64)]) -> Plan:
    """Find the index of the first largest element of every slice along ``dim``."""
    axis = wrap_dim(dim, self)
    if 0 in self.shape:
        return nothing()
    shape_is(out, reduced_shape(self, (axis,), keepdim), "self without dim, or with length 1 there")
    return mapped(first_largest, reads=(self,), writes=(out,), dtype=self.dtype, raw=(out,), axis=axis, shape=out.shape)


@aclnnArgMax.example
def examples() -> Iterator[Example]:
    """Every dimension, counted from either end, kept and not; both types of the result."""
    calls = (
        (FLOAT, 0, False, INT64, (4, 5)),
        (BF16, -1, True, INT32, (3, 4, 1)),
        (INT32, 1, False, INT32, (3, 5)),
        (DOUBLE, 2, True, INT64, (3, 4, 1)),
        (UINT8, -3, True, INT32, (1, 4, 5)),
    )
    for dtype, dim, keep, result, shape in calls:
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "dim": dim, "keepdim": keep, "out": numbers(shape, result, 2)}


def first_largest(values: Array, *, axis: int, shape: tuple[int, ...]) -> Array:
    """The first where several are equal; NaN is larger than everything."""
    found: Array = np.argmax(np.atleast_1d(values), axis).reshape(shape)
    return found
