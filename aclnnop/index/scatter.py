"""aclnnScatter and aclnnScatterValue: elements that are written, added or multiplied along one dimension, each at an index of its own."""

import enum
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, FLOAT16, INT32, INT64
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    Int,
    IntKind,
    Operand,
    Out,
    Plan,
    between,
    in_place,
    numbers,
    operator,
    same_dtype,
    same_shape,
    wrap_dim,
)
from aclnnop.conversion.moves import NEWER, WIDE
from aclnnop.index.gathering import NUMBERS, PLACES
from aclnnop.index.places import along, as_element, check_beside, check_no_longer, within
from aclnnop.index.scattering import Changes, Combine, changed, merged, scattered


class Reduce(enum.IntEnum):
    """What becomes of an element and an update."""

    REPLACE = 0
    ADD = 1
    MULTIPLY = 2


Mode = Annotated[int, IntKind(choices=Reduce)]
AnyIn = Annotated[Operand, In(*NUMBERS)]
AnyOut = Annotated[Operand, Out(*NUMBERS)]
PlacesIn = Annotated[Operand, In(*PLACES)]


@operator(products=NEWER)
def aclnnScatter(self: AnyIn, dim: Int, index: PlacesIn, src: AnyIn, reduce: Mode, out: AnyOut) -> Plan:
    """Write, add or multiply every element of ``src`` to that of ``self`` at its index along ``dim``."""
    return scattered(self, dim, index, src, out, Combine[Reduce(reduce).name])


@operator(products=NEWER)
def aclnnScatterValue(
    self: AnyIn, dim: Int, index: PlacesIn, value: Annotated[Scalar, HandleKind(Scalar, *WIDE)], reduce: Mode, out: AnyOut
) -> Plan:
    """Write, add or multiply a number to the elements of ``self`` that ``index`` chooses along ``dim``."""
    same_dtype(self, out)
    check_beside(self, index)
    same_shape(self, out)
    axis = wrap_dim(dim, self)
    check_no_longer(index, self, axis)
    number = as_element(value, "value", self)
    everywhere = range(max(self.rank, 1))
    return changed(
        numbered, self, (index,), out, axes=everywhere, axis=axis, name=index.name, number=number, combine=Combine[Reduce(reduce).name]
    )


aclnnInplaceScatter = in_place(aclnnScatter)
aclnnInplaceScatterValue = in_place(aclnnScatterValue)


@aclnnScatter.example
def examples() -> Iterator[Example]:
    """Every mode; fewer indices than elements, the same index more than once where that is defined."""
    for dtype, dim, places, shape, mode in (
        (FLOAT, 1, INT64, (2, 3), Reduce.ADD),
        (FLOAT16, 0, INT32, (3, 4), Reduce.MULTIPLY),
        (BF16, -1, INT64, (2, 2), Reduce.ADD),
        (BOOL, 0, INT32, (1, 4), Reduce.REPLACE),
        (COMPLEX64, -2, INT64, (1, 3), Reduce.REPLACE),
    ):
        yield {
            "self": numbers((3, 4), dtype, 1, 9),
            "dim": dim,
            "index": between(0, 3, shape, places, 2),
            "src": numbers((3, 4), dtype, 3, 2),
            "reduce": int(mode),
            "out": numbers((3, 4), dtype, 4),
        }


@aclnnScatterValue.example
def values() -> Iterator[Example]:
    """Every mode, and numbers of other types."""
    for dtype, dim, places, value, mode in (
        (FLOAT, 1, INT64, 2.5, Reduce.REPLACE),
        (INT32, 0, INT32, 3, Reduce.ADD),
        (BF16, -1, INT64, 2, Reduce.MULTIPLY),
    ):
        yield {
            "self": numbers((3, 4), dtype, 1, 9),
            "dim": dim,
            "index": between(0, 3, (2, 3), places, 2),
            "value": value,
            "reduce": int(mode),
            "out": numbers((3, 4), dtype, 4),
        }


def numbered(source: Array, index: Array, *, axis: int, name: str, number: object, combine: Combine) -> Changes:
    """The same update for all."""
    key = along(within(index, source.shape[axis], name), axis)
    return merged(source, key, np.full(index.size, number, source.dtype), combine)
