"""aclnnGatherNd: slices of a tensor, each by an index for every dimension that it is chosen from."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT16, INT32, INT64, UINT16, UINT32, UINT64
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Bool, Example, In, Operand, Out, Plan, between, direct, nothing, numbers, operator, same_dtype, shape_is
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import PLACES, REAL, except_on
from aclnnop.index.places import check_tuples, tuples

TYPES = (*REAL, UINT16, UINT32, UINT64)
ON = except_on(TYPES, (DOUBLE, INT16, UINT16, UINT32, UINT64), Product.A3, Product.A2)


@operator(products=NEWER)
def aclnnGatherNd(
    self: Annotated[Operand, In(*TYPES, on=ON, rank=(1, 8))],
    indices: Annotated[Operand, In(*PLACES, rank=(1, 8))],
    negativeIndexSupport: Bool,
    out: Annotated[Operand, Out(*TYPES, on=ON)],
) -> Plan:
    """Take the element or slice of ``self`` at each tuple of indices, which lie along the last dimension of ``indices``."""
    same_dtype(self, out)
    count = check_tuples(self, indices)
    shape_is(out, (*indices.shape[:-1], *self.shape[count:]), "a slice of self for each tuple of indices")
    if 0 in out.shape:
        return nothing()
    return direct(taken, reads=(self, indices), writes=(out,), scratch={}, name=indices.name, negative=negativeIndexSupport)


@aclnnGatherNd.example
def examples() -> Iterator[Example]:
    """Elements, rows and matrices; negative indices where they are allowed."""
    for dtype, places, shape, out, negative in (
        (FLOAT, INT64, (2, 3), (2,), True),
        (FLOAT16, INT32, (4, 1), (4, 4, 5), False),
        (BF16, INT64, (2, 1, 2), (2, 1, 5), True),
        (BOOL, INT32, (2,), (5,), False),
    ):
        index = between(-3 if negative else 0, 3, shape, places, 2)
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), "indices": index, "negativeIndexSupport": negative, "out": numbers(out, dtype, 3)}


def taken(values: Array, indices: Array, out: Array, *, name: str, negative: bool) -> None:
    """As numpy indexes."""
    found: Array = values[tuple(tuples(indices, values.shape, name, negative=negative))]
    out[...] = np.asarray(found).reshape(out.shape)
