"""aclnnAdvanceStep: the inputs of the next step of text generation, for sequences whose memory lies in blocks."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Example, In, InOut, Int, Operand, Plan, direct, operator, require
from acl_emu.spec.tiling import in_tiling
from aclnnop.optim.adam import NEWER

Row = Annotated[Operand, InOut(INT64, rank=(1, 2))]
Rows = Annotated[Operand, In(INT64, rank=(1, 2))]


@operator(products=NEWER)
def aclnnAdvanceStep(
    inputTokens: Row,
    sampledTokenIds: Rows,
    inputPositions: Row,
    seqLens: Row,
    slotMapping: Row,
    blockTables: Rows,
    numSeqs: Int,
    numQueries: Int,
    blockSize: Int,
) -> Plan:
    """Take the sampled tokens as the next inputs: positions, lengths and places in memory of the first ``numQueries`` sequences."""
    with in_tiling():
        for operand in (inputTokens, inputPositions, seqLens, slotMapping, blockTables):
            require(operand.shape[0] == numSeqs, f"{operand.name} has shape {list(operand.shape)}, expected a length of numSeqs: {numSeqs}")
        for operand in (inputTokens, inputPositions, seqLens, slotMapping):
            require(operand.size == numSeqs, f"{operand.name} has shape {list(operand.shape)}, expected numSeqs elements: {numSeqs}")
        require(
            sampledTokenIds.shape == (numQueries, 1),
            f"sampledTokenIds has shape {list(sampledTokenIds.shape)}, expected {[numQueries, 1]}",
        )
        require(numSeqs > numQueries > 0, f"numSeqs is {numSeqs}, expected more than numQueries, which is {numQueries}")
        require(blockSize > 0, f"blockSize is {blockSize}, expected a value of at least 1")
    writes = (inputTokens, inputPositions, seqLens, slotMapping)
    return direct(advance, reads=(sampledTokenIds, blockTables), writes=writes, scratch={}, count=numQueries, size=blockSize)


@aclnnAdvanceStep.example
def examples() -> Iterator[Example]:
    """Five sequences, three of which go on."""
    yield {
        "inputTokens": np.arange(5),
        "sampledTokenIds": np.array([[11], [12], [13]]),
        "inputPositions": np.zeros(5, np.int64),
        "seqLens": np.array([1, 2, 5, 7, 9]),
        "slotMapping": np.zeros(5, np.int64),
        "blockTables": np.arange(20).reshape(5, 4),
        "numSeqs": 5,
        "numQueries": 3,
        "blockSize": 2,
    }


def advance(sampled: Array, tables: Array, tokens: Array, positions: Array, lengths: Array, slots: Array, *, count: int, size: int) -> None:
    """The kernel finds blocks by counting along all elements of the table from the start of a sequence's row on."""
    at = lengths.reshape(-1)[:count].copy()
    flat = tables.reshape(-1)
    places = np.arange(count) * (flat.size // tables.shape[0]) + at // size
    wrong = (at < 0) | (places >= flat.size)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise DeviceFault(f"seqLens[{first}] is {at[first]}, which has no block in blockTables of shape {list(tables.shape)}")
    index = np.unravel_index(np.arange(count), tokens.shape)
    tokens[index] = sampled.reshape(-1)[:count]
    positions[np.unravel_index(np.arange(count), positions.shape)] = at
    lengths[np.unravel_index(np.arange(count), lengths.shape)] = at + 1
    slots[np.unravel_index(np.arange(count), slots.shape)] = flat[places] * size + at % size
