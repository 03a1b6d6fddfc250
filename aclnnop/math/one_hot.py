"""aclnnOneHot: classes as vectors that are on at one place."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from acl_emu.core.soc import Product
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
    IntKind,
    Operand,
    Out,
    Plan,
    between,
    mapped,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.conversion.moves import EVERY
from aclnnop.index.gathering import except_on

CLASSES = (UINT8, INT32, INT64)
VALUES = (FLOAT16, FLOAT, INT8, UINT8, INT32, INT64)
ClassesIn = Annotated[Operand, In(*CLASSES, on=except_on(CLASSES, (UINT8,), Product.A3))]
ValueIn = Annotated[Operand, In(*VALUES, on=except_on(VALUES, (UINT8,), Product.A3))]


@operator(products=EVERY)
def aclnnOneHot(
    self: ClassesIn,
    numClasses: Annotated[int, IntKind("int")],
    onValue: ValueIn,
    offValue: ValueIn,
    axis: Int,
    out: Annotated[Operand, Out(*VALUES, on=except_on(VALUES, (UINT8,), Product.A3))],
) -> Plan:
    """Write a vector for every class, ``onValue`` at its place and ``offValue`` elsewhere, along a new dimension ``axis``."""
    same_dtype(out, onValue, offValue)
    least = 1 if 0 in self.shape else 0
    require(numClasses >= least, f"numClasses is {numClasses}, expected at least {least} for self of shape {list(self.shape)}")
    require(-1 <= axis <= self.rank, f"axis is {axis}, expected a value in [-1, {self.rank}]: self has {self.rank} dimensions")
    place = self.rank if axis == -1 else axis
    shape_is(out, (*self.shape[:place], numClasses, *self.shape[place:]), "self with numClasses along axis")
    for value in (onValue, offValue):
        require(0 not in value.shape, f"{value.name} has shape {list(value.shape)}, expected an element")
    if 0 in out.shape:
        return nothing()
    first = [value.in_view(()) for value in (onValue, offValue)]
    strides = (*self.view.strides[:place], 0, *self.view.strides[place:])
    spread = self.in_view(out.shape, strides)
    return mapped(encoded, reads=(spread, *first), writes=(out,), dtype=out.dtype, raw=(spread, *first, out), axis=place)


@aclnnOneHot.example
def examples() -> Iterator[Example]:
    """The new dimension behind, in front and between; classes that are none among the others."""
    for dtype, classes, axis, shape in (
        (FLOAT, INT64, -1, (4, 2, 5)),
        (INT64, INT32, 0, (5, 4, 2)),
        (FLOAT16, INT64, 1, (4, 5, 2)),
        (INT32, INT32, 2, (4, 2, 5)),
    ):
        yield {
            "self": between(-1, 6, (4, 2), classes, 1),
            "numClasses": 5,
            "onValue": np.ones(1, dtype.numpy),
            "offValue": np.zeros(1, dtype.numpy),
            "axis": axis,
            "out": numbers(shape, dtype, 2),
        }


def encoded(classes: Array, on: Array, off: Array, *, axis: int) -> Array:
    """The formula."""
    numbered = np.arange(classes.shape[axis]).reshape(-1, *[1] * (classes.ndim - 1 - axis))
    return np.where(classes == numbered, on, off)
