"""aclnnRopeWithSinCosCache: queries and keys, rotated by angles that positions look up in a table."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT64, DType
from acl_emu.core.errors import DeviceFault
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    HandleKind,
    In,
    Int,
    Operand,
    Out,
    Plan,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.math.unary import FLOATS, NEWER

Rows = Annotated[Operand, In(*FLOATS, rank=2)]
RowsOut = Annotated[Operand, Out(*FLOATS, rank=2)]
Sections = Annotated[IntArray | None, HandleKind(IntArray, optional=True)]
UNITS = {FLOAT: 16}
"""What lengths are multiples of, 32 for the other types."""


@operator(products=NEWER)
def aclnnRopeWithSinCosCache(
    positions: Annotated[Operand, In(INT64, rank=(1, 2))],
    queryIn: Rows,
    keyIn: Rows,
    cosSinCache: Rows,
    mropeSection: Sections,
    headSize: Int,
    isNeoxStyle: Bool,
    queryOut: RowsOut,
    keyOut: RowsOut,
) -> Plan:
    """Turn the first elements of every head: halves, or neighbours; ``mropeSection`` says which position counts for which elements."""
    same_dtype(queryIn, keyIn, cosSinCache, queryOut, keyOut)
    for operand in (positions, queryIn, keyIn, cosSinCache):
        require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected no length of 0")
    tokens, rotated = queryIn.shape[0], cosSinCache.shape[1]
    unit = UNITS.get(queryIn.dtype, 32)
    require(headSize > 0 and headSize % unit == 0, f"headSize is {headSize}, expected a multiple of {unit} for {queryIn.dtype}")
    fitting = rotated <= headSize and rotated % unit == 0
    require(fitting, f"cosSinCache has shape {list(cosSinCache.shape)}, expected a last length of at most headSize that {unit} divides")
    for operand in (queryIn, keyIn):
        whole = operand.shape[0] == tokens and operand.shape[1] % headSize == 0
        require(whole, f"{operand.name} has shape {list(operand.shape)}, expected {tokens} tokens and heads of headSize: {headSize}")
    sections = () if mropeSection is None else mropeSection.values
    shape = (len(sections), tokens) if sections else (tokens,)
    require(positions.shape == shape, f"positions has shape {list(positions.shape)}, expected {list(shape)}")
    require(not sections or len(sections) in (3, 4), f"mropeSection has {len(sections)} elements, expected 3 or 4")
    require(all(one >= 0 for one in sections), f"mropeSection is {mropeSection}, expected no negative element")
    require(
        not sections or sum(sections) * 2 == rotated, f"mropeSection is {mropeSection}, expected elements that add up to {rotated // 2}"
    )
    same_shape(queryIn, queryOut)
    same_shape(keyIn, keyOut)
    whose = np.repeat(np.arange(len(sections)), sections) if sections else np.zeros(rotated // 2, np.int64)

    def kernel(positions: Array, query: Array, key: Array, table: Array, to_query: Array, to_key: Array) -> None:
        if positions.min() < 0 or positions.max() >= len(table):
            raise DeviceFault(f"positions has an element outside the rows of cosSinCache: {len(table)}")
        found = np.asarray(table, np.float32)[positions.reshape(-1, tokens)]
        half = rotated // 2
        chosen = found[:, :, np.concatenate((np.arange(half), np.arange(half) + half))]
        cos, sin = (chosen[whose, :, part * half + np.arange(half)].T[:, np.newaxis] for part in range(2))
        for rows, out in ((query, to_query), (key, to_key)):
            heads = np.array(rows, np.float32).reshape(tokens, -1, headSize)
            places = (slice(0, half), slice(half, rotated)) if isNeoxStyle else (slice(0, rotated, 2), slice(1, rotated, 2))
            x1, x2 = (heads[..., place].copy() for place in places)
            heads[..., places[0]], heads[..., places[1]] = x1 * cos - x2 * sin, x2 * cos + x1 * sin
            out[...] = heads.reshape(out.shape)

    return direct(kernel, reads=(positions, queryIn, keyIn, cosSinCache), writes=(queryOut, keyOut), scratch={})


def call(dtype: DType, sections: list[int] | None, *, halves: bool) -> Example:
    """Three tokens; two heads of queries and one of keys."""
    rotated = 2 * sum(sections) if sections else 32
    size = max(rotated, 64)
    places = np.arange(3, dtype=np.int64) if sections is None else np.arange(3 * len(sections), dtype=np.int64).reshape(-1, 3) % 5
    return {
        "positions": places,
        "queryIn": numbers((3, 2 * size), dtype, 1),
        "keyIn": numbers((3, size), dtype, 2),
        "cosSinCache": numbers((5, rotated), dtype, 3),
        "mropeSection": sections,
        "headSize": size,
        "isNeoxStyle": halves,
        "queryOut": numbers((3, 2 * size), dtype, 4),
        "keyOut": numbers((3, size), dtype, 5),
    }


@aclnnRopeWithSinCosCache.example
def examples() -> Iterator[Example]:
    """Halves and neighbours, plain positions and sections."""
    yield call(FLOATS[0], None, halves=True)
    yield call(FLOATS[1], [16, 24, 24], halves=False)
    yield call(FLOATS[2], None, halves=False)
    yield call(FLOATS[0], [24, 20, 20], halves=True)
