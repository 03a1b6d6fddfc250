"""aclnnRepeatInterleaveGrad: the gradient of what was repeated, added up."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, Product, numbers, operator, require, same_dtype, shape_is, wrap_dim
from acl_emu.spec.tiling import in_tiling
from aclnnop.conversion.moves import rearranged
from aclnnop.index.counts import counted

FLOATS = (FLOAT16, BF16, FLOAT)


@operator(products=frozenset({Product.A950}))
def aclnnRepeatInterleaveGrad(
    yGrad: Annotated[Operand, In(*FLOATS)],
    repeats: Annotated[Operand, In(INT32, INT64)],
    axis: Int,
    out: Annotated[Operand, Out(*FLOATS, const=True)],
) -> Plan:
    """Add up the slices of ``yGrad`` along ``axis`` that came from the same one: ``repeats`` of them, one number for all or one each."""
    same_dtype(yGrad, out)
    place = wrap_dim(axis, yGrad, "axis")
    with in_tiling():
        require(repeats.size > 0, f"repeats has shape {list(repeats.shape)}, expected an element")
    length = out.shape[place] if repeats.size == 1 and place < out.rank else repeats.size
    shape_is(out, (*yGrad.shape[:place], length, *yGrad.shape[place + 1 :]), "yGrad with a slice for each of repeats")
    return rearranged(gathered, (yGrad, repeats), out, axis=place, length=length)


@aclnnRepeatInterleaveGrad.example
def examples() -> Iterator[Example]:
    """Counts for each slice, and one for all."""
    for dtype, counts in ((FLOAT, np.array([1, 0, 3])), (BF16, np.array([2]))):
        length = max(2, counts.size)
        yield {"yGrad": numbers((4, 5), dtype, 1, 3), "repeats": counts, "axis": 0, "out": numbers((length, 5), dtype, 2)}


def gathered(grad: Array, repeats: Array, *, axis: int, length: int) -> Array:
    """In float64."""
    rows = np.moveaxis(grad.astype(np.float64), axis, 0)
    sums = np.zeros((length, *rows.shape[1:]))
    np.add.at(sums, np.repeat(np.arange(length), counted(repeats, length, rows.shape[0])), rows)
    return dtypes.round_to(np.ascontiguousarray(np.moveaxis(sums, 0, axis)), dtypes.from_numpy(grad.dtype))
