"""aclnnInplacePut: elements that are written or added by their numbers, as if the tensor were a row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Bool, Example, In, InOut, Operand, Plan, between, length_is, numbers, operator, require, same_dtype
from aclnnop.conversion.moves import EVERY
from aclnnop.index.gathering import NUMBERS, PLACES, except_on
from aclnnop.index.places import within
from aclnnop.index.scattering import Changes, Combine, changed, merged

ON = except_on(NUMBERS, (BF16, COMPLEX64, COMPLEX128), Product.A910, Product.A310P)


@operator(products=EVERY)
def aclnnInplacePut(
    selfRef: Annotated[Operand, InOut(*NUMBERS, on=ON, const=False)],
    index: Annotated[Operand, In(*PLACES)],
    source: Annotated[Operand, In(*NUMBERS, on=ON)],
    accumulate: Bool,
) -> Plan:
    """Write each element of ``source`` to the element of ``selfRef`` that ``index`` says, counted row by row, or add it there."""
    same_dtype(selfRef, source)
    length_is(source, index.size, f"as many as {index.name}")
    require(0 not in selfRef.shape or 0 in index.shape, f"selfRef has shape {list(selfRef.shape)}, expected elements for those of index")
    return changed(
        put,
        selfRef,
        (index, source),
        selfRef,
        axes=range(max(selfRef.rank, 1)),
        once=not accumulate,
        name=index.name,
        combine=Combine.ADD if accumulate else Combine.REPLACE,
    )


@aclnnInplacePut.example
def examples() -> Iterator[Example]:
    """Written and added, negative indices among the latter."""
    for dtype, places, accumulate in (
        (FLOAT, INT64, False),
        (FLOAT16, INT32, True),
        (BF16, INT64, True),
        (BOOL, INT32, False),
        (COMPLEX64, INT64, True),
    ):
        index = between(-12, 12, (2, 5), places, 2) if accumulate else np.array([[11, 3, 0], [5, 1, 2]], places.numpy)
        yield {
            "selfRef": numbers((3, 4), dtype, 1, 9),
            "index": index,
            "source": numbers((index.size,), dtype, 3, 9),
            "accumulate": accumulate,
        }


def put(source: Array, index: Array, updates: Array, *, name: str, combine: Combine) -> Changes:
    """The number of an element becomes its coordinates."""
    places = within(index, source.size, name, negative=True).reshape(-1)
    return merged(source, np.unravel_index(places, source.shape), updates.reshape(-1), combine)
