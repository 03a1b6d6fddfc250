"""aclnnRoll: elements moved along dimensions, those that leave at one end coming back at the other."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT32
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    wrap_dim,
)
from aclnnop.conversion.moves import EVERY, rearranged

TYPES = (BF16, FLOAT16, FLOAT, INT8, UINT8, INT32, INT64, UINT32, BOOL, INT16)
NEWEST = {Product.A950: (*TYPES, COMPLEX64)}


@operator(products=EVERY)
def aclnnRoll(
    x: Annotated[Operand, In(*TYPES, on=NEWEST)],
    shifts: IntArrayIn,
    dims: Annotated[IntArray | None, HandleKind(IntArray, optional=True)],
    out: Annotated[Operand, Out(*TYPES, on=NEWEST)],
) -> Plan:
    """Move elements by ``shifts`` along ``dims``; without dims along all elements in a row."""
    axes = None if dims is None or not len(dims) else tuple(wrap_dim(dim, x, "dims") for dim in dims.values)
    wanted = 1 if axes is None else len(axes)
    require(len(shifts) == wanted, f"shifts has {len(shifts)} values, expected {wanted}: one for each of dims")
    same_dtype(x, out)
    same_shape(x, out)
    return rearranged(rolled, (x,), out, shifts=shifts.values, axes=axes)


@aclnnRoll.example
def examples() -> Iterator[Example]:
    """Along one dimension, two, and all elements."""
    for dtype, shifts, dims in ((FLOAT, [1], [0]), (BF16, [-1, 9], [-1, 0]), (INT64, [5], [])):
        yield {"x": numbers((3, 4), dtype, 1, 9), "shifts": shifts, "dims": dims, "out": numbers((3, 4), dtype, 2)}


def rolled(x: Array, *, shifts: tuple[int, ...], axes: tuple[int, ...] | None) -> Array:
    """A tensor without dimensions has one element."""
    if not x.ndim:
        return x
    return np.roll(x, shifts[0], None) if axes is None else np.roll(x, shifts, axes)
