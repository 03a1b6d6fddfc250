"""What operators on a linear layer over a vocabulary share: parameter kinds, work in blocks of the vocabulary, masks of targets."""

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.engine.casting import cast, same
from acl_emu.engine.chain import Chain, Part
from acl_emu.spec import Array, In, Operand, Out

Rows = Annotated[Operand, In(FLOAT, rank=1)]
RowsOut = Annotated[Operand, Out(FLOAT, rank=1)]
Matrix = Annotated[Operand, In(FLOAT16, BF16, rank=2)]
MatrixOut = Annotated[Operand, Out(FLOAT16, BF16, rank=2)]
Target = Annotated[Operand, In(INT64, INT32, rank=1)]
TargetOut = Annotated[Operand, Out(INT64, INT32, rank=1)]

# Elements of one block of numbers per row and word: 8 Mi floats are 32 MiB, large enough for full speed in the matrix products.
BLOCK_ELEMENTS = 8 << 20
SMALLEST_BLOCK = 128


def block_of_words(rows: int, vocabulary: int) -> int:
    """How many words are worked on at once."""
    return min(vocabulary, max(SMALLEST_BLOCK, BLOCK_ELEMENTS // rows))


def block_scratch(rows: int, width: int, block: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """The scratch buffers in the workspace that ``blocks`` wants."""
    return {
        "features": ((rows, width), np.float32),
        "table": ((block, width), np.float32),
        "block_logits": ((rows, block), np.float32),
    }


class Block(NamedTuple):
    """Some words of the vocabulary."""

    words: slice
    table: Array
    """Their rows of the weight, as float32."""
    block_logits: Array
    """A number for each row and word, still to be computed."""


def blocks(input: Array, weight: Array, features: Array, table: Array, block_logits: Array) -> Iterator[Block]:
    """The vocabulary a block at a time: rows times vocabulary is never held at once. ``features`` becomes the input as float32."""
    cast(input, features)
    rows, vocabulary, step = len(input), len(weight), len(table)
    for first in range(0, vocabulary, step):
        count = min(step, vocabulary - first)
        words = slice(first, first + count)
        cast(weight[words], table[:count])
        yield Block(words, table[:count], block_logits.reshape(-1)[: rows * count].reshape(rows, count))


class BlockInSteps(NamedTuple):
    """The same for the steps of a chain."""

    words: slice
    table: Part
    block_logits: Part


def blocks_in_steps(chain: Chain, input: Operand, weight: Operand) -> Iterator[BlockInSteps]:
    """What ``blocks`` does, as steps of a chain."""
    chain.kernel(same, (chain.of(input),), (chain.scratch("features"),))
    rows, vocabulary, step = input.shape[0], weight.shape[0], chain.scratch("table").layout.shape[0]
    for first in range(0, vocabulary, step):
        words = slice(first, min(first + step, vocabulary))
        table = chain.scratch("table").rows(slice(0, words.stop - first))
        chain.kernel(same, (chain.of(weight).rows(words),), (table,))
        yield BlockInSteps(words, table, chain.scratch("block_logits").dense((rows, words.stop - first)))


def targets_within(words: slice, counted: Array, target: Array) -> tuple[Array, Array]:
    """Rows whose target lies in a block, and its place there."""
    rows = np.flatnonzero(counted & (target >= words.start) & (target < words.stop))
    return rows, target[rows] - words.start


def require_targets(name: str, counted: Array, target: Array, vocabulary: int) -> None:
    """A target that counts and is no word of the vocabulary is a fault."""
    outside = counted & ((target < 0) | (target >= vocabulary))
    if outside.any():
        row = int(np.argmax(outside))
        raise DeviceFault(f"{name}[{row}] is {target[row]}, outside [0, {vocabulary - 1}]")


# One bit for each row, least significant first; set means masked: the target lies in another shard of the vocabulary.


def unpack_mask(mask: Array, rows: int) -> Array:
    """Rows that have a target here; a mask may also have one BOOL for each row."""
    masked = mask if mask.dtype == np.bool_ else np.unpackbits(mask, bitorder="little")[:rows].astype(np.bool_)
    return ~masked


def pack_mask(counted: Array, *, padding: bool) -> Array:
    """The bits of rows; ``padding`` fills up the last byte."""
    masked = np.full(-(-len(counted) // 8) * 8, padding)
    masked[: len(counted)] = ~counted
    return np.packbits(masked, bitorder="little")
