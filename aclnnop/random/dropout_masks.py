"""Dropout: one bit for each element, the lowest of a byte first, in whole groups of 128; and what the bits do to elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import UINT8
from acl_emu.engine import apply
from acl_emu.engine.philox import BLOCK, fill_words
from acl_emu.spec import Array, Operand, Out, Plan, castable, direct, length_is, mapped, nothing, require, same_shape, shape_is, together
from aclnnop.conversion.fill_scalar import fill
from aclnnop.random.drawing import PIECE, Seed, below, pieces, threshold, words_for

MaskOut = Annotated[Operand, Out(UINT8, rank=1)]
GROUP = 128
"""Bits that are drawn together."""


def mask_bytes(elements: int) -> int:
    """How long the mask of so many elements is."""
    return -(-elements // GROUP) * GROUP // 8


def require_probability(name: str, value: float) -> None:
    """A probability."""
    require(0 <= value <= 1, f"{name} is {value}, expected a value from 0 to 1")


def generated(shape: Sequence[int], prob: float, seed: Seed, out: Operand) -> Plan:
    """A mask for a tensor of a shape: every bit is 0 with a probability."""
    require_probability("prob", prob)
    require(all(length >= 0 for length in shape), f"shape is {list(shape)}, expected no negative dimension")
    shape_is(out, (mask_bytes(math.prod(shape)),), "a bit for each element, in whole groups of 128")
    return bits(prob, seed, out)


def bits(prob: float, seed: Seed, out: Operand) -> Plan:
    """The plan of a mask."""
    if out.size == 0:
        return nothing()
    scratch = words_for(min(8 * out.size, PIECE), 1)
    limit = threshold(1 - prob)
    return direct(draw_bits, reads=seed.tensors, writes=(out,), scratch=scratch, limit=limit, seed=seed.seed, offset=seed.offset)


def draw_bits(*arrays: Array, words: Array, limit: int, seed: int, offset: int) -> None:
    """One word for each bit."""
    *seeds, mask = arrays
    given = [int(array.reshape(())) for array in seeds] or [0, 0]
    kept = np.empty(words.size, np.bool_)
    for begin, end in pieces(8 * mask.size):
        used = end - begin
        fill_words(words[:used], seed + given[0], offset + given[1], begin // BLOCK)
        apply(below, [words[:used]], [kept[:used]], dtype=words.dtype, limit=limit)
        mask[begin // 8 : end // 8] = np.packbits(kept[:used], bitorder="little")


def masked(self: Operand, mask: Operand, scale: float, out: Operand) -> Plan:
    """Elements times ``scale`` where their bit is set, else 0, be they infinite or not a number."""
    return _with_bits(kept_or_zero, self, mask, scale, out)


def multiplied(self: Operand, mask: Operand, scale: float, out: Operand) -> Plan:
    """Elements times their bit times ``scale``."""
    return _with_bits(product, self, mask, scale, out)


def unchanged(self: Operand, out: Operand) -> Plan:
    """Elements as they are."""
    return mapped(identity, reads=(self,), writes=(out,), dtype=self.dtype)


def zeros(out: Operand) -> Plan:
    """Nothing is kept."""
    return nothing() if out.size == 0 else direct(fill, reads=(), writes=(out,), scratch={}, number=0)


def dropped(input: Operand, p: float, seed: Seed, out: Operand, maskOut: Operand) -> Plan:
    """Dropout with a mask that is drawn, where there is anything to draw, and left in ``maskOut``."""
    require_probability("p", p)
    check_shapes(input, maskOut, out)
    if p in (0, 1):
        return zeros(out) if p else unchanged(input, out)
    return together([bits(p, seed, maskOut), masked(input, maskOut, scale_of(p), out)])


def _with_bits(formula: Callable[..., Array], self: Operand, mask: Operand, scale: float, out: Operand) -> Plan:
    if out.size == 0:
        return nothing()
    return direct(spread_bits, reads=(self, mask), writes=(out,), scratch={}, formula=formula, scale=scale)


def spread_bits(x: Array, mask: Array, out: Array, *, formula: Callable[..., Array], scale: float) -> None:
    """A truth value for each element, and then the formula."""
    kept = np.unpackbits(mask.reshape(-1), count=x.size, bitorder="little").view(np.bool_).reshape(x.shape)
    apply(formula, [x, kept], [out], scale=scale)


def kept_or_zero(x: Array, kept: Array, *, scale: float) -> Array:
    """What is dropped is 0."""
    found: Array = np.where(kept, x * np.float32(scale), np.float32(0))
    return found


def product(x: Array, kept: Array, *, scale: float) -> Array:
    """What is dropped is multiplied by 0."""
    found: Array = x * kept.astype(np.float32) * np.float32(scale)
    return found


def identity(x: Array) -> Array:
    """As it is."""
    return x


def check_shapes(self: Operand, mask: Operand, out: Operand) -> None:
    """What all operators that use a mask look at."""
    castable(self.dtype, out)
    same_shape(self, out)
    length_is(mask, mask_bytes(self.size), "a bit for each element, in whole groups of 128")


def scale_of(prob: float) -> float:
    """What is not dropped is made larger by as much as is dropped."""
    return 1 / (1 - prob)
