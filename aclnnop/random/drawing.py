"""What all operators that draw random numbers share: where their words come from, and in which pieces they are used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT64, DType
from acl_emu.engine.numeric import to_integers
from acl_emu.engine.philox import BLOCK, fill_words
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import Array, In, IntKind, Operand, Plan, Product, direct, length_is, nothing, require

NEWER = frozenset({Product.A950, Product.A3, Product.A2})
TRAINING = NEWER | {Product.A910}
NEWEST = frozenset({Product.A950})
PIECE = 1 << 18
"""Elements that are drawn at a time: their words stay in the cache."""
WIDTHS = {FLOAT: 1, FLOAT16: 1, BF16: 1}
"""Words that an element takes; two in all other types."""

DIGITS = {FLOAT: 24, FLOAT16: 11, BF16: 8, DOUBLE: 53}
"""Bits of the significand."""

SeedTensor = Annotated[Operand, In(INT64, rank=(0, 1))]
UInt64 = Annotated[int, IntKind("uint64_t")]


class Seed(NamedTuple):
    """Which random numbers: a seed and an offset, both or parts of them in tensors that are read when the kernel runs."""

    seed: int
    offset: int
    tensors: tuple[Operand, ...] = ()
    """Seed and offset; what stands above is added."""

    @classmethod
    def in_tensors(cls, seedTensor: Operand, offsetTensor: Operand, offset: int) -> Seed:
        """A seed that a tensor holds, and an offset that is the sum of a number and one in a tensor."""
        for operand in (seedTensor, offsetTensor):
            length_is(operand, 1, "a single number")
        return cls(0, offset, (seedTensor, offsetTensor))


def require_block_offset(offset: int) -> None:
    """The newest chips refuse an offset inside a block."""
    if soc.current().product is Product.A950:
        require(offset % BLOCK == 0, f"offset is {offset}, expected a multiple of {BLOCK}")


Piece = Callable[..., None]
"""A kernel: words, then the elements of inputs and of the output that they are for, one-dimensional and contiguous."""


def drawn(
    piece: Piece,
    seed: Seed,
    out: Operand,
    *,
    reads: Sequence[Operand] = (),
    spread: Callable[[Array, Any], Array] = np.broadcast_to,
    width: int = 0,
    count: int | None = None,
    **attributes: Any,
) -> Plan:
    """Draw the elements of ``out``, or the first ``count``, piece by piece; each takes ``width`` words, by default what its type needs.

    Inputs are brought to the shape of ``out`` by ``spread``.
    """
    count = out.size if count is None else min(count, out.size)
    if count == 0:
        return nothing()
    width = width or width_of(out.dtype)
    settings = {"seed": seed.seed, "offset": seed.offset, "read": bool(seed.tensors), "width": width, "spread": spread, "count": count}
    reads = (*seed.tensors, *reads)
    return direct(
        in_pieces, reads=reads, writes=(out,), scratch=words_for(min(count, PIECE), width), piece=piece, **settings, attributes=attributes
    )


def in_pieces(
    *arrays: Array,
    words: Array,
    piece: Piece,
    seed: int,
    offset: int,
    read: bool,
    width: int,
    spread: Callable[[Array, Any], Array],
    count: int,
    attributes: dict[str, Any],
) -> None:
    """Words for a piece, then the piece, until all elements are drawn. Strides play no part in which word belongs to which element."""
    *inputs, out = arrays
    if read:
        seed, offset = (number + int(array.reshape(())) for number, array in zip((seed, offset), inputs, strict=False))
        inputs = inputs[2:]
    result = out if out.flags.c_contiguous else out.copy()
    flat = [array.reshape(-1) for array in (*(spread(array, out.shape) for array in inputs), result)]
    first = 0
    for begin, end in pieces(count):
        used = words[: _words(end - begin, width)]
        fill_words(used, seed, offset, first)
        first += used.size // BLOCK
        piece(used, *(array[begin:end] for array in flat), **attributes)
    if result is not out:
        out[...] = result


def pieces(size: int) -> Iterator[tuple[int, int]]:
    """Where they begin and end."""
    return ((begin, min(begin + PIECE, size)) for begin in range(0, size, PIECE))


def _words(elements: int, width: int) -> int:
    """Whole blocks of them."""
    return -(-elements * width // BLOCK) * BLOCK


def words_for(elements: int, width: int) -> dict[str, tuple[Shape, Any]]:
    """A scratch buffer for the words of so many elements."""
    return {"words": ((_words(elements, width),), np.uint32)}


def fractions(words: Array, digits: int) -> Array:
    """Words of 32 or 64 bits as multiples of ``2**-digits`` in [0, 1), every one as likely."""
    bits = words.dtype.itemsize * 8
    wide = np.dtype(np.float64 if bits == 64 else np.float32)
    found: Array = (words >> words.dtype.type(bits - digits)).astype(wide) * wide.type(2.0**-digits)
    return found


def uniform(shape: Shape, seed: int, offset: int) -> Array:
    """FLOAT numbers in [0, 1), for kernels that draw a few beside other work."""
    size = math.prod(shape)
    words = np.empty(_words(size, 1), np.uint32)
    fill_words(words, seed, offset)
    return fractions(words[:size], DIGITS[FLOAT]).reshape(shape)


def positive_fractions(words: Array) -> Array:
    """Words as numbers in (0, 1], close to 0 as fine as the words are."""
    bits = words.dtype.itemsize * 8
    wide = np.dtype(np.float64 if bits == 64 else np.float32)
    found: Array = words.astype(wide) * wide.type(2.0**-bits) + wide.type(2.0 ** -(bits + 1))
    return found


def as_stored(values: Array, dtype: DType) -> Array:
    """What a type keeps of the numbers: whole ones towards zero, truth values whether they are not zero."""
    if dtype.kind == "bool":
        found: Array = values != 0
        return found
    return to_integers(values, dtype) if dtype.kind == "integer" else values


def threshold(probability: float) -> int:
    """How many of the 2**32 words lie below it."""
    return math.ceil(probability * 2.0**32)


def below(words: Array, *, limit: int) -> Array:
    """Which of the words are smaller; the limit may be one more than the largest."""
    found: Array = words == words if limit >= 2**32 else words < np.uint32(limit)
    return found


def in_words(words: Array, dtype: DType) -> Array:
    """The words, of the width that an element of the type takes."""
    return words if dtype in WIDTHS else words.view(np.uint64)


def width_of(dtype: DType) -> int:
    """Words for an element."""
    return WIDTHS.get(dtype, 2)
