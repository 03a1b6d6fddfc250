"""What becomes of the products of queries and keys before the softmax: position encodings, masks, and what is dropped after it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from acl_emu.engine import apply
from acl_emu.spec import Array
from aclnnop.attention.visibility import Visibility

COMPRESSED_ROWS = 1024
"""Rows of a position encoding that is given by its last ones."""
Block = Callable[[slice, slice], Array]
"""Heads and positions of keys or values: heads, positions, features."""


class Dropped(NamedTuple):
    """A bit for each weight, 1 where it is kept; the lowest bit of a byte comes first."""

    bits: Array
    first: int
    """Where those of the sequence begin."""
    keep: float

    def factors(self, task: "Task", heads: slice, rows: slice, columns: slice) -> Array:
        """What the weights of a block are multiplied by."""
        head, row, column = (np.arange(part.start, part.stop, dtype=np.int64) for part in (heads, rows, columns))
        bit = self.first + (head[:, np.newaxis, np.newaxis] * task.queries + row[:, np.newaxis]) * task.keys + column
        kept = (self.bits[bit >> 3] >> (bit & 7).astype(np.uint8)) & 1
        factors: Array = kept.astype(np.float32) / np.float32(self.keep)
        return factors


class Slopes(NamedTuple):
    """A position encoding that grows with the distance of query and key."""

    slopes: Array
    """One for each head."""
    start: int
    """Position of the first query, counted from that of the first key."""
    root: bool

    def block(self, heads: slice, rows: slice, columns: slice) -> Array:
        """What is added to the scores of a block."""
        row, column = (np.arange(part.start, part.stop, dtype=np.float32) for part in (rows, columns))
        distance = np.abs(row[:, np.newaxis] + np.float32(self.start) - column)
        return -(np.sqrt(distance) if self.root else distance) * self.slopes[heads, np.newaxis, np.newaxis]


class Given(NamedTuple):
    """A position encoding as it is stored: heads, queries or 1, keys; or the last rows of one that depends on the distance alone."""

    values: Array
    queries: int

    def block(self, heads: slice, rows: slice, columns: slice) -> Array:
        """What is added to the scores of a block."""
        values = self.values[heads]
        if values.shape[1] == 1:
            return values[:, :, columns]
        if values.shape[1] >= self.queries:
            return values[:, rows, columns]
        beyond = self.queries - COMPRESSED_ROWS
        row, column = np.arange(rows.start, rows.stop)[:, np.newaxis], np.arange(columns.start, columns.stop)
        moved = np.maximum(beyond - row, 0)  # along the diagonal, to the first row that is given; what ends outside is hidden by the mask
        return values[:, row + moved - beyond, np.minimum(column + moved, values.shape[2] - 1)]


@dataclass
class Task:
    """The attention of one sequence."""

    query: tuple[Array, ...]
    """Heads, positions, features; several arrays are parts of the features, one behind the other."""
    key: Block
    value: Block
    keys: int
    """Positions of keys."""
    key_heads: int
    scale: float
    visible: Visibility
    mask: Array | None = None
    """Heads or 1, queries, keys: anything but 0 hides a key."""
    shift: Given | Slopes | None = None
    shift_first: bool = True
    """Whether the position encoding is added before the scores are scaled."""
    dropped: Dropped | None = None
    sink: Array | None = None
    """Scores of a key that takes weight and has no value, one for each head of queries."""
    weight_scale: float | None = None
    """What weights are multiplied by before they are rounded to INT8; None: they are not."""

    @property
    def queries(self) -> int:
        """Positions of queries."""
        return int(self.query[0].shape[1])

    @property
    def group(self) -> int:
        """How many heads of queries share one of keys."""
        return len(self.query[0]) // max(self.key_heads, 1)

    @property
    def features(self) -> int:
        """Of queries and keys."""
        return sum(array.shape[2] for array in self.query)

    def own(self, heads: slice) -> slice:
        """The heads of queries that belong to heads of keys."""
        return slice(heads.start * self.group, heads.stop * self.group)

    def shifted(self, products: Array, heads: slice, rows: slice, columns: slice) -> float:
        """Add the position encoding to products, in place; returns what is left to multiply them by."""
        if self.shift is None:
            return self.scale
        shift = self._grouped(self.shift.block(self.own(heads), rows, columns))
        if self.shift_first:
            apply(added, (products, shift), (products,))
            return self.scale
        apply(scaled_and_added, (products, shift), (products,), scale=self.scale)
        return 1.0

    def hidden(self, heads: slice, rows: slice, columns: slice) -> Array | None:
        """Where queries do not see keys, broadcast to the products; None where all see all."""
        hidden = self.visible.hidden(rows, columns)
        if self.mask is None:
            return None if hidden is None else hidden[np.newaxis, np.newaxis]
        mask = self.mask if len(self.mask) == 1 else self.mask[self.own(heads)]
        given: Array = self._grouped(mask[:, rows, columns]) != 0
        return given if hidden is None else given | hidden

    def kept(self, heads: slice, rows: slice, columns: slice) -> Array | None:
        """What dropping multiplies the weights by; None where nothing is dropped."""
        if self.dropped is None:
            return None
        return self._grouped(self.dropped.factors(self, self.own(heads), rows, columns))

    def _grouped(self, block: Array) -> Array:
        """With the heads of queries split into those of keys and groups."""
        return block[np.newaxis] if len(block) == 1 else block.reshape(-1, self.group, *block.shape[1:])


def along_features(arrays: tuple[Array, ...], block: Array) -> Iterator[tuple[Array, Array]]:
    """Arrays of features that follow each other, and the part of a block that belongs to each."""
    first = 0
    for array in arrays:
        yield array, block[..., first : first + array.shape[2]]
        first += array.shape[2]


def added(products: Array, shift: Array) -> Array:
    """Both together."""
    return products + shift


def scaled_and_added(products: Array, shift: Array, *, scale: float) -> Array:
    """Products scaled, and a position encoding."""
    return products * scale + shift
