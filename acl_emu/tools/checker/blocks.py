"""The checker's book of memory: what was allocated, by whom, what of it was written, and which queued work uses it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from dataclasses import dataclass
from typing import Any

from acl_emu.core.observe import Span
from acl_emu.tools.checker.findings import Origin
from acl_emu.tools.checker.intervals import Intervals
from acl_emu.tools.checker.order import Clock

_DEAD_KEPT = 4096
_USES_KEPT = 1024


@dataclass(frozen=True)
class Use:
    """What one queued task does to a block."""

    stream: Any
    place: int
    clock: Clock
    span: Span
    writes: bool
    scratch: bool
    """Whether it is the workspace."""
    label: str
    origin: Origin


class Block:
    """One allocation."""

    __slots__ = ("address", "end", "freed", "origin", "size", "thing", "uses", "written")

    def __init__(self, address: int, size: int, origin: Origin, thing: object = None) -> None:
        self.address = address
        self.size = size
        self.end = address + size
        self.origin = origin
        self.thing = thing
        self.freed: Origin | None = None
        self.written = Intervals()
        self.uses: dict[Any, dict[tuple[Any, ...], Use]] = {}
        """By stream: the newest use of each kind of the same bytes; older ones come before it anyway."""

    def add(self, use: Use) -> None:
        """Remember what queued work does."""
        mine = self.uses.get(use.stream)
        if mine is None:
            mine = self.uses[use.stream] = {}
        span = use.span
        key = (span.address, span.shape, span.strides, span.item, use.writes, use.scratch)
        mine.pop(key, None)  # the newest is to be the last
        mine[key] = use
        if len(mine) > _USES_KEPT:
            del mine[next(iter(mine))]

    def grow(self, size: int) -> None:
        """More memory behind it."""
        self.size += size
        self.end += size

    def absorb(self, other: Block) -> None:
        """The block behind it becomes a part of it."""
        self.grow(other.size)
        for first, last in other.written.ranges:
            self.written.add(first, last)
        for uses in other.uses.values():
            for use in uses.values():
                self.add(use)

    def part(self, first: int, last: int) -> Block:
        """A block of its own that is a part of this one, with what was done to it."""
        made = Block(first, last - first, self.origin, self.thing)
        for begin, end in self.written.ranges:
            made.written.add(max(begin, first), min(end, last))
        for uses in self.uses.values():
            for use in uses.values():
                if use.span.address < last and first < use.span.end:
                    made.add(use)
        return made

    def describe(self) -> str:
        """In a message."""
        return f"the allocation of {self.size} bytes at {self.address:#x}"


class Book:
    """Living and dead blocks of one kind of memory."""

    def __init__(self) -> None:
        self._addresses: list[int] = []
        self._alive: dict[int, Block] = {}
        self._dead: deque[Block] = deque(maxlen=_DEAD_KEPT)

    def add(self, block: Block) -> None:
        """Memory was given out."""
        if block.address not in self._alive:
            insort(self._addresses, block.address)
        self._alive[block.address] = block

    def remove(self, address: int, origin: Origin, thing: object = None) -> Block | None:
        """Memory was given back; None where another thread has got it already."""
        block = self._alive.get(address)
        if block is None or block.thing != thing:
            return None
        del self._alive[address]
        del self._addresses[bisect_left(self._addresses, address)]
        block.freed = origin
        self._dead.append(block)
        return block

    def find(self, address: int) -> Block | None:
        """The living block that holds an address."""
        block = self.below(address)
        return block if block is not None and address < block.end else None

    def below(self, address: int) -> Block | None:
        """The last living block that begins at or below an address."""
        index = bisect_right(self._addresses, address) - 1
        return self._alive[self._addresses[index]] if index >= 0 else None

    def find_dead(self, address: int) -> Block | None:
        """The block that held an address last."""
        return next((block for block in reversed(self._dead) if block.address <= address < block.end), None)

    def __iter__(self) -> Any:
        return iter(list(self._alive.values()))
