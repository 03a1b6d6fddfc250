"""Random words: Philox4x32 with ten rounds, a function of key and counter alone."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core import soc
from acl_emu.engine.functions import function

Array = npt.NDArray[Any]

BLOCK = 4
"""Words that one counter gives."""
_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = (1 << 32) - 1
_THREADED_BLOCKS = 1 << 13
"""Blocks that are worth a second thread."""


def fill_words(words: Array, seed: int, offset: int, first: int = 0) -> None:
    """Fill a contiguous array of uint32, whole blocks of it, from block number ``first`` on.

    The key is the seed. The counter of a block is its number and, as the upper half, the offset: draws with different offsets share no
    block, however many words they take.
    """
    blocks = words.size // BLOCK
    run = function("acl_emu_philox_words")
    if run is None:
        words[...] = words_in_numpy(seed, offset, first, blocks)
        return
    numbers = (_signed(seed), _signed(offset), _signed(first), blocks, words.ctypes.data)
    run((ctypes.c_int64 * len(numbers))(*numbers), ctypes.c_int64(soc.threads() if blocks >= _THREADED_BLOCKS else 1))


def words_in_numpy(seed: int, offset: int, first: int, blocks: int) -> Array:
    """The words that ``fill_words`` gives: their definition."""
    number = np.arange(blocks, dtype=np.uint64) + np.uint64(first)
    low, shift = np.uint64(_LOW), np.uint64(32)
    stream = [np.full(blocks, (offset >> bits) & _LOW, np.uint64) for bits in (0, 32)]
    c0, c1, c2, c3 = number & low, number >> shift, *stream
    keys = [seed & _LOW, (seed >> 32) & _LOW]
    for _ in range(_ROUNDS):
        left, right = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        k0, k1 = map(np.uint64, keys)
        c0, c1, c2, c3 = (right >> shift) ^ c1 ^ k0, right & low, (left >> shift) ^ c3 ^ k1, left & low
        keys = [(key + step) & _LOW for key, step in zip(keys, _KEY_STEPS, strict=True)]
    return np.stack((c0, c1, c2, c3), axis=-1).astype(np.uint32).reshape(-1)


def _signed(number: int) -> int:
    """64 bits as C takes them."""
    return (number + 2**63) % 2**64 - 2**63
