"""Sets of bytes as sorted, disjoint ranges."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Intervals:
    """Ranges (first, past the last) that neither touch nor overlap."""

    __slots__ = ("_firsts", "_lasts")

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def add(self, first: int, last: int) -> None:
        """Put a range in."""
        if first >= last:
            return
        begin = bisect_left(self._lasts, first)
        end = bisect_right(self._firsts, last)
        if begin < end:
            first, last = min(first, self._firsts[begin]), max(last, self._lasts[end - 1])
        self._firsts[begin:end] = [first]
        self._lasts[begin:end] = [last]

    def gap(self, first: int, last: int) -> int | None:
        """The first byte of a range that is not in the set; None where all are."""
        index = bisect_right(self._firsts, first) - 1
        covered = self._lasts[index] if index >= 0 else first
        if covered >= last:
            return None
        return max(covered, first)

    def touches(self, first: int, last: int) -> bool:
        """Whether any byte of a range is in the set."""
        index = bisect_left(self._firsts, last) - 1
        return index >= 0 and self._lasts[index] > first

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges, by address."""
        return list(zip(self._firsts, self._lasts, strict=True))
