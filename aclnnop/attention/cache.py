"""Keys and values of inference: as they are stored, in pages, behind a shared prefix, as small integers with scales."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array
from aclnnop.attention.scores import Block

Factor = Callable[[slice, slice], Array]
"""What the keys of some heads and positions are multiplied by, or what is added to them: it broadcasts to heads, positions, features."""


def stored(array: Array, first: int = 0) -> Block:
    """Blocks of an array of heads, positions and features, from a position on."""
    return lambda heads, columns: array[heads, first + columns.start : first + columns.stop]


def paged(pages: Array, numbers: Array) -> Block:
    """Blocks of what lies in pages: page, head, position, features; ``numbers`` are the pages of a sequence."""
    length = pages.shape[2]

    def block(heads: slice, columns: slice) -> Array:
        first, last = columns.start // length, -(-columns.stop // length)
        taken = pages[numbers[first:last], heads].swapaxes(0, 1)
        joined = taken.reshape(taken.shape[0], taken.shape[1] * length, -1)
        return joined[:, columns.start - first * length : columns.stop - first * length]

    return block


def check_pages(table: Array, counts: list[int], pages: int) -> None:
    """Every page that is used exists."""
    for row, count in zip(table, counts, strict=True):
        used = row[:count]
        wrong = (used < 0) | (used >= pages)
        if wrong.any():
            raise DeviceFault(f"blockTable holds {used[wrong][0]}, which is outside of the {pages} blocks of key and value")


def beside(first: Block, second: Block) -> Block:
    """Features that follow others."""
    return lambda heads, columns: np.concatenate([first(heads, columns), second(heads, columns)], axis=2)


def behind(prefix: Block, length: int, own: Block) -> Block:
    """Keys that follow a prefix that all sequences share."""

    def block(heads: slice, columns: slice) -> Array:
        parts = []
        if columns.start < length:
            parts.append(prefix(heads, slice(columns.start, min(columns.stop, length))))
        if columns.stop > length:
            parts.append(own(heads, slice(max(columns.start - length, 0), columns.stop - length)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    return block


def in_float(block: Block) -> Block:
    """Integers in FLOAT, which products are taken in."""
    return lambda heads, columns: block(heads, columns).astype(np.float32)


class Scaling(NamedTuple):
    """How integers become keys or values: ``(number + offset) * scale``."""

    scale: Factor
    offset: Factor | None

    def of(self, block: Block) -> Block:
        """The keys that blocks of integers stand for."""

        def scaled(heads: slice, columns: slice) -> Array:
            found = block(heads, columns).astype(np.float32)
            if self.offset is not None:
                found += self.offset(heads, columns)
            found *= self.scale(heads, columns)
            return found

        return scaled


def factor(values: Array, kind: str, batch: int, key_heads: int, pages: Array | None) -> Factor:
    """Scales or offsets, by what they are given for; ``kind`` is the name of a row of the table of scalings."""
    wide = values.astype(np.float32)
    if kind in ("per-tensor", "per-head"):
        by_head = wide.reshape(-1, 1, 1)
        return lambda heads, _: by_head[heads] if kind == "per-head" else by_head
    if kind == "per-channel":
        by_feature = wide.reshape(key_heads, 1, -1)
        return lambda heads, _: by_feature[heads]
    if kind == "per-token":
        by_position = wide.reshape(-1, values.shape[-1])[batch]
        return lambda _, columns: by_position[np.newaxis, columns, np.newaxis]
    if kind == "per-token-head":
        both = wide[batch]
        return lambda heads, columns: both[heads, columns, np.newaxis]
    assert pages is not None
    lines = wide.reshape(len(wide), -1, wide.shape[-1], 1)  # page, head or 1, position
    gathered = paged(lines, pages)
    return lambda heads, columns: gathered(heads if lines.shape[1] > 1 else slice(0, 1), columns)


def unpacked(array: Array, shape: tuple[int, ...]) -> Array:
    """The INT4 that bytes or INT32 hold, the lowest bits first."""
    codes = np.ascontiguousarray(array).view(np.uint8).reshape(-1, 1)
    halves = np.concatenate([codes << 4, codes & 0xF0], axis=1).view(np.int8) >> 4
    return halves.reshape(shape)
