"""aclnnTake: elements by their numbers, as if the tensor were a row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, FLOAT16, INT32, INT64, UINT16, UINT32, UINT64
from acl_emu.core.soc import Product
from acl_emu.runtime.tensor import MAX_RANK
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.conversion.moves import TRAINING
from aclnnop.index.gathering import NUMBERS, PLACES, except_on
from aclnnop.index.places import within

TYPES = (*NUMBERS, UINT16, UINT32, UINT64)
OLDER = except_on(TYPES, (BF16,), Product.A910)


@operator(products=TRAINING)
def aclnnTake(
    self: Annotated[Operand, In(*TYPES, on=OLDER, rank=(0, MAX_RANK))],
    index: Annotated[Operand, In(*PLACES)],
    out: Annotated[Operand, Out(*TYPES, on=OLDER)],
) -> Plan:
    """Take the element of ``self`` that each index says, counted row by row."""
    same_dtype(self, out)
    same_shape(index, out)
    if 0 in out.shape:
        return nothing()
    require(0 not in self.shape, f"self has shape {list(self.shape)}, expected elements for those of index")
    return direct(taken, reads=(self, index), writes=(out,), scratch={}, name=index.name)


@aclnnTake.example
def examples() -> Iterator[Example]:
    """Indices of several shapes."""
    for dtype, places, shape in (
        (FLOAT, INT64, (2, 2)),
        (FLOAT16, INT32, (7,)),
        (BF16, INT64, ()),
        (BOOL, INT32, (3, 1)),
        (COMPLEX64, INT64, (2,)),
    ):
        yield {"self": numbers((3, 4), dtype, 1, 9), "index": between(0, 12, shape, places, 2), "out": numbers(shape, dtype, 3)}


def taken(values: Array, index: Array, out: Array, *, name: str) -> None:
    """The number of an element becomes its coordinates."""
    places = within(index, values.size, name)
    row = values.reshape(-1) if values.flags.c_contiguous else None
    out[...] = row[places] if row is not None else values[np.unravel_index(places, values.shape)] if values.ndim else values
