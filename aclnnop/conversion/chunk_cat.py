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
)
from aclnnop.conversion.moves import NEWER

FLOATS = (FLOAT, FLOAT16, BF16)


@operator(products=NEWER)
def aclnnChunkCat(
    tensors: Annotated[list[Operand], ListOf(In(*FLOATS, rank=(1, 8)))],
    dim: Int,
    numChunks: Int,
    out: Annotated[Operand, Out(*FLOATS)],
) -> Plan:
    """Cut every tensor along ``dim`` into ``numChunks`` chunks, the last ones filled up with zeros, and join the chunks of one number."""
    same_dtype(*tensors)
    castable(tensors[0].dtype, out)
    require(dim == 0, f"dim is {dim}, expected 0")
    require(numChunks > 0, f"numChunks is {numChunks}, expected a value of at least 1")
    widths = [-(-one.shape[0] // numChunks) * math.prod(one.shape[1:]) for one in tensors]
    shape_is(out, (numChunks, sum(widths)), "numChunks rows of a chunk of each tensor")
    return mapped(joined, reads=tensors, writes=(out,), dtype=tensors[0].dtype, count=numChunks)


@aclnnChunkCat.example
def examples() -> Iterator[Example]:
    """Chunks that come out even, and some that do not."""
    for dtype, out in ((FLOAT, FLOAT), (BF16, FLOAT)):
        yield {"tensors": [numbers((4, 2), dtype, 1), numbers((5, 3), dtype, 2)], "dim": 0, "numChunks": 2, "out": numbers((2, 13), out, 3)}


def joined(*tensors: Array, count: int) -> Array:
    """A row for each chunk."""
    rows = []
    for one in tensors:
        full = np.pad(one, [(0, -len(one) % count), *[(0, 0)] * (one.ndim - 1)])
        rows.append(full.reshape(count, full.size // count))
    return np.concatenate(rows, axis=1)
