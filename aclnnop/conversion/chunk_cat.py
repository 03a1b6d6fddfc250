"""aclnnChunkCat: tensors cut into as many chunks each, chunk by chunk side by side."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
    ListOf,
    Operand,
    Out,
    Plan,
    castable,
    mapped,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
    wrap_dim,
)
from aclnnop.conversion.moves import NEWER

FLOATS = (FLOAT, FLOAT16, BF16)


@operator(products=NEWER)
def aclnnChunkCat(
    tensors: Annotated[list[Operand], ListOf(In(*FLOATS, rank=(1, 8)))], dim: Int, numChunks: Int, out: Annotated[Operand, Out(*FLOATS)]
) -> Plan:
    """Cut every tensor along ``dim`` into ``numChunks`` chunks, the last ones filled up with zeros, and join the chunks of one number."""
    first = tensors[0]
    same_dtype(*tensors)
    castable(first.dtype, out)
    axis = wrap_dim(dim, first)
    require(numChunks > 0, f"numChunks is {numChunks}, expected a value of at least 1")
    for one in tensors:
        require(
            one.rank > axis and one.shape[:axis] == first.shape[:axis],
            f"{one.name} has shape {list(one.shape)}, expected {list(first.shape[:axis])} in front of dim {axis}",
        )
    widths = [-(-one.shape[axis] // numChunks) * math.prod(one.shape[axis + 1 :]) for one in tensors]
    shape_is(out, (*first.shape[:axis], numChunks, sum(widths)), "numChunks rows of a chunk of each tensor")
    return mapped(joined, reads=tensors, writes=(out,), dtype=first.dtype, axis=axis, count=numChunks)


@aclnnChunkCat.example
def examples() -> Iterator[Example]:
    """Chunks that come out even, and some that do not."""
    for dtype, out in ((FLOAT, FLOAT), (BF16, FLOAT)):
        yield {"tensors": [numbers((4, 2), dtype, 1), numbers((5, 3), dtype, 2)], "dim": 0, "numChunks": 2, "out": numbers((2, 13), out, 3)}


def joined(*tensors: Array, axis: int, count: int) -> Array:
    """A row for each chunk."""
    rows = []
    for one in tensors:
        missing = -one.shape[axis] % count
        full = np.pad(one, [(0, missing if place == axis else 0) for place in range(one.ndim)])
        rows.append(full.reshape(*one.shape[:axis], count, -1) if full.size else np.zeros((*one.shape[:axis], count, 0), one.dtype))
    return np.concatenate(rows, axis=-1)
