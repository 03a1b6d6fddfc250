"""aclnnRepeatInterleaveGrad: the gradient of what was repeated, added up."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, Product, length_is, numbers, operator, require, same_dtype, wrap_dim
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
    before, behind = yGrad.shape[:place], yGrad.shape[place + 1 :]
    others = math.prod((*before, *behind))
    length = out.size // others if repeats.size == 1 and others else repeats.size
    length_is(out, others * length, "yGrad with a slice for each of repeats")
    return rearranged(gathered, (yGrad, repeats), out, axis=place, shape=(*before, length, *behind), out_shape=out.shape)


@aclnnRepeatInterleaveGrad.example
def examples() -> Iterator[Example]:
    """Counts for each slice, and one for all."""
    for dtype, counts in ((FLOAT, np.array([1, 0, 3])), (BF16, np.array([2]))):
        length = max(2, counts.size)
        yield {"yGrad": numbers((4, 5), dtype, 1, 3), "repeats": counts, "axis": 0, "out": numbers((length, 5), dtype, 2)}


def gathered(grad: Array, repeats: Array, *, axis: int, shape: Shape, out_shape: Shape) -> Array:
    """In float64; ``out`` may have another shape of as many elements."""
    rows = np.moveaxis(grad.astype(np.float64), axis, 0)
    sums = np.zeros((shape[axis], *rows.shape[1:]))
    np.add.at(sums, np.repeat(np.arange(shape[axis]), counted(repeats, shape[axis], rows.shape[0])), rows)
    return dtypes.round_to(np.moveaxis(sums, 0, axis).reshape(out_shape), dtypes.from_numpy(grad.dtype))
