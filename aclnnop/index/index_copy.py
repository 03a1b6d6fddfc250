"""aclnnIndexCopy: slices that are written along one dimension, by their numbers."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, FLOAT, FLOAT16, INT32, INT64, UINT32, UINT64
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, in_place, numbers, operator, same_dtype, same_shape
from aclnnop.conversion.moves import NEWER
from aclnnop.index.adding import check_slices
from aclnnop.index.gathering import NUMBERS, PLACES, except_on
from aclnnop.index.scattering import Combine, changed, slices

TYPES = (*NUMBERS, UINT32, UINT64)
ON = except_on(TYPES, (UINT32, UINT64), Product.A3, Product.A2)


@operator(products=NEWER)
def aclnnIndexCopy(
    selfRef: Annotated[Operand, In(*TYPES, on=ON, const=False)],
    dim: Int,
    index: Annotated[Operand, In(*PLACES, rank=(0, 1))],
    source: Annotated[Operand, In(*TYPES, on=ON)],
    outRef: Annotated[Operand, Out(*TYPES, on=ON)],
) -> Plan:
    """Write each slice of ``source`` along ``dim`` to the slice of the result that ``index`` says; the others are those of ``selfRef``."""
    same_dtype(selfRef, source)
    axis = check_slices(selfRef, dim, index, source)
    same_dtype(selfRef, outRef)
    same_shape(selfRef, outRef)
    return changed(slices, selfRef, (index, source), outRef, axes=(axis,), once=True, name=index.name, combine=Combine.REPLACE, axis=axis)


aclnnInplaceIndexCopy = in_place(aclnnIndexCopy, ref="selfRef")


@aclnnIndexCopy.example
def examples() -> Iterator[Example]:
    """Every dimension, each slice once."""
    for dtype, dim, places in ((FLOAT, 0, INT64), (FLOAT16, 1, INT32), (BF16, -1, INT64), (BOOL, -2, INT32), (COMPLEX64, 0, INT32)):
        source = [4, 3, 5]
        source[dim] = 2
        yield {
            "selfRef": numbers((4, 3, 5), dtype, 1, 9),
            "dim": dim,
            "index": np.array([2, 0], places.numpy),
            "source": numbers(tuple(source), dtype, 2, 9),
            "outRef": numbers((4, 3, 5), dtype, 3),
        }
