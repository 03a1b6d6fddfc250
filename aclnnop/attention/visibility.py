"""Which keys a query sees: bands of a distance, prefixes, and the compressed masks that the sparse modes take."""

import enum
from typing import NamedTuple

import numpy as np

from acl_emu.spec import Array

FAR = 1 << 40
"""A distance that no two positions have."""
TRIANGLE = 2048
"""Rows and columns of a compressed mask."""
PREFIX_ROWS = 3072
"""Rows of a compressed mask with a prefix."""


class Sparse(enum.IntEnum):
    """What sparseMode makes of mask and tokens."""

    DEFAULT = 0
    ALL_MASK = 1
    LEFT_UP_CAUSAL = 2
    RIGHT_DOWN_CAUSAL = 3
    BAND = 4
    PREFIX = 5
    PREFIX_COMPRESSED = 6
    RIGHT_DOWN_CAUSAL_BAND = 7
    BAND_LEFT_UP_CAUSAL = 8


COMPRESSED = frozenset(Sparse) - {Sparse.DEFAULT, Sparse.ALL_MASK, Sparse.PREFIX}
"""Modes whose mask stands for one of any size."""


class Visibility(NamedTuple):
    """The keys that a query sees: those whose position is that of the query plus ``low`` to ``high``, and the first ``prefix`` ones."""

    low: int = -FAR
    high: int = FAR
    prefix: int = 0
    diagonals: Array | None = None
    """Of a compressed mask: what is hidden at each distance from its diagonal. Without it what is right of the diagonal is hidden."""

    def columns(self, rows: slice, keys: int) -> range:
        """The keys that some of the rows may see."""
        first, last = max(0, rows.start + self.low), min(keys, rows.stop + self.high)
        return range(max(last, min(self.prefix, keys))) if self.prefix else range(min(first, keys), max(last, 0))

    def hidden(self, rows: slice, columns: slice) -> Array | None:
        """Where queries do not see keys: a row for each query; None where all see all."""
        first, last = rows.start - (columns.stop - 1), rows.stop - 1 - columns.start  # of the distances query - key
        if -self.high <= first and last <= -self.low:
            return None
        distances = np.arange(first, last + 1)
        along = self._right(distances + self.high) | ~self._right(distances + self.low - 1)
        width = columns.stop - columns.start
        hidden = np.lib.stride_tricks.sliding_window_view(along, width)[:, ::-1]
        return np.ascontiguousarray(hidden) & (np.arange(columns.start, columns.stop) >= self.prefix)

    def _right(self, distances: Array) -> Array:
        """Whether what lies at a distance below the diagonal counts as right of it."""
        right: Array = distances < 0
        if self.diagonals is None:
            return right
        near = np.abs(distances) < TRIANGLE
        found: Array = np.where(near, self.diagonals[np.where(near, distances, 0) + TRIANGLE - 1], right)
        return found


def diagonals(mask: Array) -> Array:
    """What a compressed mask hides, by the distance below its diagonal: from ``1 - TRIANGLE`` on."""
    hidden: Array = np.concatenate([mask[0, TRIANGLE - 1 : 0 : -1], mask[:TRIANGLE, 0]]) != 0
    return hidden


def visibility(mode: int, queries: int, keys: int, before: int, after: int, prefix: int = 0, compressed: Array | None = None) -> Visibility:
    """What a sparse mode makes of a sequence; ``before`` and ``after`` are preTokens and nextTokens."""
    before, after = (min(max(tokens, -FAR), FAR) for tokens in (before, after))
    corner = keys - queries
    """The distance on the diagonal that ends in the lower right corner."""
    if mode == Sparse.DEFAULT:
        return Visibility(-before, after)
    if mode == Sparse.LEFT_UP_CAUSAL:
        return Visibility(high=0, diagonals=compressed)
    if mode in (Sparse.RIGHT_DOWN_CAUSAL, Sparse.PREFIX, Sparse.PREFIX_COMPRESSED):
        return Visibility(high=corner, prefix=prefix, diagonals=compressed)
    if mode == Sparse.BAND:
        return Visibility(corner - before, corner + after, diagonals=compressed)
    return Visibility()
