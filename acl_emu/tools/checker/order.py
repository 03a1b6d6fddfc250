"""What happens before what: vector clocks over streams, events, callbacks and the host.

A clock says for each stream how far it has certainly come. Work on a stream comes after all earlier work on it, after everything that
events made the stream wait for, and after what the host had waited for when it submitted. The host is one participant, whatever the
number of its threads: locks and joins of a program cannot be seen, and what one of its threads has waited for it may have told the
others. Nothing depends on when tasks really run, except that a callback that has begun may have told the host so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

Clock = Mapping[Any, int]
"""Stream -> how far it has come."""


def _later(one: Clock, other: Clock) -> dict[Any, int]:
    joined = dict(one)
    for stream, place in other.items():
        if joined.get(stream, 0) < place:
            joined[stream] = place
    return joined


class _Line:
    """One stream: what it has waited for, by place."""

    __slots__ = ("clocks", "host_version", "places")

    def __init__(self) -> None:
        self.places: list[int] = [0]
        self.clocks: list[Clock] = [{}]
        self.host_version = 0

    def at(self, place: int) -> Clock:
        return self.clocks[max(0, bisect_right(self.places, place) - 1)]


class Order:
    """Who has waited for what."""

    def __init__(self) -> None:
        self.host: dict[Any, int] = {}
        """How far the host knows each stream to be."""
        self._version = 0
        self._lines: dict[Any, _Line] = {}
        self._records: dict[Any, tuple[Any, int]] = {}
        self._callbacks: set[tuple[Any, int]] = set()
        self._running: set[tuple[Any, int]] = set()

    def submit(self, stream: Any, place: int) -> Clock:
        """Work is put on a stream: what has happened before it, apart from earlier work of the same stream."""
        line = self._lines.get(stream)
        if line is None:
            line = self._lines[stream] = _Line()
        if line.host_version != self._version:
            self._raise(line, place, self.host)
            line.host_version = self._version
        return line.clocks[-1]

    def _raise(self, line: _Line, place: int, clock: Clock) -> None:
        line.places.append(place)
        line.clocks.append(_later(line.clocks[-1], clock))

    def record(self, event: Any, stream: Any, place: int) -> None:
        """An event captures a place of a stream."""
        self._records[event] = (stream, place)

    def wait(self, stream: Any, place: int, event: Any) -> None:
        """From ``place`` on, a stream waits for what an event captured."""
        known = self._records.get(event)
        if known is not None:
            self._raise(self._lines[stream], place, self.reached(*known))

    def forget(self, event: Any) -> None:
        """An event is destroyed; waits that were queued stay."""
        self._records.pop(event, None)

    def reached(self, stream: Any, place: int) -> Clock:
        """What is known by someone who knows that a stream has come to ``place``."""
        line = self._lines.get(stream)
        return _later(line.at(place) if line is not None else {}, {stream: place})

    def host_waits(self, stream: Any, place: int) -> None:
        """The host knows that a stream has come to ``place``."""
        if self.host.get(stream, 0) >= place:
            return
        self.host = _later(self.host, self.reached(stream, place))
        self._version += 1
        line = self._lines.get(stream)
        if line is not None:
            old = max(0, bisect_right(line.places, place) - 1)
            del line.places[:old], line.clocks[:old]

    def stream_ends(self, stream: Any) -> None:
        """A stream is destroyed."""
        line = self._lines.get(stream)
        if line is not None:
            self.host = _later(self.host, line.clocks[-1])
            self.host.pop(stream, None)
            self._version += 1
            del self._lines[stream]

    def is_before(self, stream: Any, place: int, clock: Clock) -> bool:
        """Whether the work at ``place`` of a stream comes before whatever has this clock; all work of a dead stream is done."""
        return clock.get(stream, 0) >= place or stream not in self._lines

    def callback(self, stream: Any, place: int) -> None:
        """The work at ``place`` is a function of the program."""
        self._callbacks.add((stream, place))

    def begins(self, stream: Any, place: int) -> None:
        """A task begins: a callback may tell the host about it."""
        if (stream, place) in self._callbacks:
            self.host_waits(stream, place - 1)
            self._running.add((stream, place))

    def ends(self, stream: Any, place: int) -> None:
        """A task has ended."""
        self._callbacks.discard((stream, place))
        self._running.discard((stream, place))

    def holds_back(self, stream: Any, place: int, clock: Clock) -> bool:
        """Whether a callback that is running now comes before the work at ``place`` of a stream."""
        return any((stream is other and place > held) or clock.get(other, 0) >= held for other, held in self._running)
