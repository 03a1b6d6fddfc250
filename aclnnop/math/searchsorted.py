"""aclnnSearchSorted and aclnnSearchSorteds: where numbers would be inserted into sorted rows."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Bool,
    Example,
    HandleKind,
    In,
    Operand,
    Out,
    Plan,
    Product,
    between,
    length_is,
    numbers,
    operator,
    promote,
    require,
    same_shape,
)
from aclnnop.math.reduction import NEWER
from aclnnop.math.searching import index_type, searched

TYPES = (DOUBLE, FLOAT, FLOAT16, UINT8, INT8, INT16, INT32, INT64)
SequenceIn = Annotated[Operand, In(*TYPES)]
SorterIn = Annotated[Operand | None, In(INT64, optional=True)]
IndexOut = Annotated[Operand, Out(INT32, INT64)]


@operator(products=NEWER | {Product.A910})
def aclnnSearchSorted(sortedSequence: SequenceIn, self: SequenceIn, outInt32: Bool, right: Bool, sorter: SorterIn, out: IndexOut) -> Plan:
    """Find where the elements of ``self`` would be inserted into the rows of ``sortedSequence``."""
    index_type(out, outInt32)
    dtype = promote(sortedSequence, self)
    same_shape(self, out)
    if sorter is not None:
        same_shape(sortedSequence, sorter)
    require(
        sortedSequence.rank <= 1 or (self.rank == sortedSequence.rank and self.shape[:-1] == sortedSequence.shape[:-1]),
        f"self has shape {list(self.shape)}, expected that of sortedSequence but for the last length: {list(sortedSequence.shape)}",
    )
    return searched(sortedSequence, self, sorter, out, dtype, right=right)


@aclnnSearchSorted.example
def examples() -> Iterator[Example]:
    """One sequence for all, and one for each row; in order, and put in order."""
    for dtype, index, rows in ((FLOAT, INT64, ()), (INT32, INT32, (3,))):
        sequence = numbers((*rows, 8), dtype, 1, 9)
        yield {
            "sortedSequence": np.sort(sequence, -1) if rows else sequence,
            "self": numbers((3, 4), dtype, 2, 9),
            "outInt32": index is INT32,
            "right": bool(rows),
            "sorter": None if rows else np.argsort(sequence, -1, kind="stable"),
            "out": numbers((3, 4), index, 3),
        }


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnSearchSorteds(
    sortedSequence: SequenceIn,
    self: Annotated[Scalar, HandleKind(Scalar, *TYPES)],
    outInt32: Bool,
    right: Bool,
    sorter: SorterIn,
    out: IndexOut,
) -> Plan:
    """Find where a number would be inserted into ``sortedSequence``."""
    index_type(out, outInt32)
    dtype = dtypes.promote_types(sortedSequence.dtype, self.dtype)
    assert dtype is not None  # these types all combine
    if sorter is not None:
        same_shape(sortedSequence, sorter)
    require(sortedSequence.rank == 1, f"sortedSequence has {sortedSequence.rank} dimensions, expected 1")
    length_is(out, 1, "a single number is looked for")
    return searched(sortedSequence, self, sorter, out, dtype, right=right)


@aclnnSearchSorteds.example
def examples_of_numbers() -> Iterator[Example]:
    """In order, and put in order."""
    for dtype, index, number in ((FLOAT, INT64, 0.5), (INT32, INT32, np.int32(2))):
        sequence = between(0, 9, (8,), dtype, 1)
        sorter = None if index is INT32 else np.argsort(sequence, kind="stable")
        yield {
            "sortedSequence": np.sort(sequence) if sorter is None else sequence,
            "self": number,
            "outInt32": index is INT32,
            "right": index is INT32,
            "sorter": sorter,
            "out": numbers((1,), index, 3),
        }
