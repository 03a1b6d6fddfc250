"""aclnnAdvanceStepV2: the inputs of the next step of text generation, where some of the tokens to come are guessed."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Example, In, Int, Operand, Plan, direct, operator, require
from acl_emu.spec.tiling import in_tiling
from aclnnop.optim.adam import NEWER
from aclnnop.optim.advance_step import Row

Matrix = Annotated[Operand, In(INT64, rank=2)]


@operator(products=NEWER)
def aclnnAdvanceStepV2(
    inputTokens: Row,
    sampledTokenIds: Matrix,
    inputPositions: Row,
    seqLens: Row,
    slotMapping: Row,
    blockTables: Matrix,
    specToken: Matrix,
    acceptedNum: Annotated[Operand, In(INT64, rank=1)],
    numSeqs: Int,
    numQueries: Int,
    blockSize: Int,
) -> Plan:
    """Take the last token that was accepted and the new guesses as the next inputs of every sequence, and move its positions on."""
    guesses = specToken.shape[1]
    with in_tiling():
        require(numSeqs > 0, f"numSeqs is {numSeqs}, expected a value of at least 1")
        require(numSeqs == numQueries, f"numSeqs is {numSeqs}, expected numQueries: {numQueries}")
        for operand in (inputTokens, inputPositions, seqLens, slotMapping):
            wanted = numSeqs * (1 + guesses)
            require(operand.size == wanted, f"{operand.name} has shape {list(operand.shape)}, expected {wanted} elements")
        for operand in (sampledTokenIds, blockTables, specToken, acceptedNum):
            require(operand.shape[0] == numSeqs, f"{operand.name} has shape {list(operand.shape)}, expected a length of numSeqs: {numSeqs}")
        width = sampledTokenIds.shape[1]
        require(width == 1 + guesses, f"sampledTokenIds has shape {list(sampledTokenIds.shape)}, expected {[numSeqs, 1 + guesses]}")
        require(blockSize > 0, f"blockSize is {blockSize}, expected a value of at least 1")
    writes = (inputTokens, inputPositions, seqLens, slotMapping)
    reads = (sampledTokenIds, blockTables, specToken, acceptedNum)
    return direct(advance, reads=reads, writes=writes, scratch={}, size=blockSize)


def advance(
    sampled: Array,
    tables: Array,
    guessed: Array,
    accepted: Array,
    tokens: Array,
    positions: Array,
    lengths: Array,
    slots: Array,
    *,
    size: int,
) -> None:
    """Negative tokens stand behind the last one that was accepted."""
    shape = sampled.shape
    at = positions.reshape(shape) + 1 + accepted[:, np.newaxis]
    wrong = (at < 0) | (at // size >= tables.shape[1])
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DeviceFault(f"position {at[row, column]} of sequence {row} has no block in blockTables of shape {list(tables.shape)}")
    valid = np.cumprod(sampled >= 0, axis=1).sum(axis=1)
    rows = np.arange(len(sampled))
    last = sampled[rows, np.maximum(valid - 1, 0)]
    tokens[...] = np.concatenate((last[:, np.newaxis], guessed), axis=1).reshape(tokens.shape)
    positions[...] = at.reshape(positions.shape)
    lengths[...] = (at + 1).reshape(lengths.shape)
    slots[...] = (tables[rows[:, np.newaxis], at // size] * size + at % size).reshape(slots.shape)


@aclnnAdvanceStepV2.example
def examples() -> Iterator[Example]:
    """Three sequences with one guess each."""
    yield {
        "inputTokens": np.arange(6),
        "sampledTokenIds": np.array([[11, -1], [12, 13], [14, 15]]),
        "inputPositions": np.array([1, 2, 4, 5, 0, 1]),
        "seqLens": np.array([2, 3, 5, 6, 1, 2]),
        "slotMapping": np.zeros(6, np.int64),
        "blockTables": np.arange(15).reshape(3, 5),
        "specToken": np.array([[21], [22], [23]]),
        "acceptedNum": np.array([0, 1, 1]),
        "numSeqs": 3,
        "numQueries": 3,
        "blockSize": 2,
    }
