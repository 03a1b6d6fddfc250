"""Events: points of a stream that others wait for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from acl_emu.core import constants as c
from acl_emu.core import handles, observe
from acl_emu.core.errors import AclError

if TYPE_CHECKING:
    from acl_emu.runtime.capture import Model
    from acl_emu.runtime.context import Context
    from acl_emu.runtime.stream import Stream


class Mark:
    """The point of a stream that an event captured."""

    def __init__(self, stream: Stream, event: Event) -> None:
        self.stream = stream
        self.nanoseconds: int | None = None
        self.place = stream.submit(self._stamp, observe.Work("record", "event record", event=event))

    def _stamp(self) -> None:
        self.nanoseconds = time.perf_counter_ns()

    @property
    def reached(self) -> bool:
        """Whether the stream has come by."""
        return self.stream.done >= self.place


class Event:
    """A marker in a stream that others can wait for."""

    c_name = "aclrtEvent"

    def __init__(self, context: Context, flags: int, *, extended: bool) -> None:
        self.context = context
        self.flags = flags
        self.extended = extended
        """Made by aclrtCreateEventExWithFlag: may be recorded again and again, knows no reset and no old queries."""
        self.mark: Mark | None = None
        self.model: Model | None = None
        """What captured it, where it was recorded on a stream that is captured."""
        self._waits: list[tuple[Stream, int]] = []
        self.handle = handles.issue(self)

    def record(self, stream: Stream) -> None:
        """Capture the point after the work now on the stream; earlier waits keep theirs."""
        self.model = stream.capture
        if self.model is not None:
            self.mark = None
            self.model.mark(self, stream)
        else:
            self.mark = Mark(stream, self)

    def make_wait(self, stream: Stream) -> None:
        """Hold later work of ``stream`` until the captured point is reached."""
        if self.model is not None and self.model.active and stream.capture in (None, self.model):
            self.model.wait(self, stream)
            return
        mark = self.mark
        if self.model is not None or (stream.capture is not None and mark is not None):
            raise AclError(
                "event is recorded in a capture, and the stream that waits for it is not of the same one, or the other way round",
                c.ACL_ERROR_RT_CAPTURE_DEPENDENCY,
            )
        if mark is None or mark.stream is stream:
            return

        place = stream.submit(lambda: mark.stream.run_until(mark.place), observe.Work("wait", "event wait", event=self))
        self._waits = [*self.pending_waits, (stream, place)]

    @property
    def pending_waits(self) -> list[tuple[Stream, int]]:
        """The streams that still wait for the event, and the places of their waits."""
        return [(stream, place) for stream, place in self._waits if stream.done < place]
