"""Graph capture: work that is put on a stream is kept in a model instead of being run, and runs when the model is executed.

Work of several streams is kept in the order in which it came. That order respects every event between them, so that a model runs on
one stream, one task after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from acl_emu.core import constants as c
from acl_emu.core import handles, observe
from acl_emu.core._bridge import lib
from acl_emu.core.errors import AclError
from acl_emu.runtime.callbacks import Task
from acl_emu.runtime.event import Event
from acl_emu.runtime.stream import Stream


class CaptureError(AclError):
    """What is captured does not allow the call."""

    tag, title = "EE1016", "Not_Supported"


class Node(NamedTuple):
    """One task of a model."""

    task: Task
    work: observe.Work | None
    size: int


class Model:
    """An aclmdlRI: captured work, under the name of its handle while it is captured and afterwards."""

    c_name = "aclmdlRI"

    def __init__(self, origin: Stream, mode: int) -> None:
        self.origin = origin
        self.mode = mode
        self.thread = threading.get_ident()
        self.active = True
        self.nodes: list[Node] = []
        self.streams = [origin]
        self.owned: list[Callable[[], object]] = []
        """What is to be done when the model is destroyed."""
        self._unjoined: set[Stream] = set()
        self._marks: dict[Event, tuple[Stream, int]] = {}
        self._counts: dict[Stream, int] = {}
        self._lock = threading.Lock()
        self.handle = handles.issue(self)
        lib.acl_emu_new_epoch()  # from now on C asks before it puts work on the stream
        origin.capture = self
        with _lock:
            _active.append(self)

    def add(self, stream: Stream, task: Task, work: observe.Work | None, size: int) -> None:
        """Keep a task."""
        with self._lock:
            self.nodes.append(Node(task, work, size))
            self._counts[stream] = self._counts.get(stream, 0) + 1
            if stream is not self.origin:
                self._unjoined.add(stream)

    def mark(self, event: Event, stream: Stream) -> None:
        """An event is recorded on a stream of the capture."""
        with self._lock:
            self._marks[event] = stream, self._counts.get(stream, 0)

    def wait(self, event: Event, stream: Stream) -> None:
        """A stream waits for such an event: it takes part from now on, and brings along the stream of the event."""
        with self._lock:
            recorded, count = self._marks[event]
            if stream.capture is None:
                lib.acl_emu_new_epoch()
                stream.capture = self
                self.streams.append(stream)
            if stream is not self.origin:
                self._unjoined.add(stream)
            if recorded is not stream and count == self._counts.get(recorded, 0):
                self._unjoined.discard(recorded)

    def end(self) -> None:
        """No more work is captured. Raises where a stream took part that the first one does not wait for."""
        with _lock:
            _active.remove(self)
        self.active = False
        for stream in self.streams:
            stream.capture = None
        if self._unjoined:
            numbers = ", ".join(f"{stream.handle:#x}" for stream in self._unjoined)
            self.destroy()
            raise CaptureError(
                f"work of stream {numbers} was captured, but not waited for by the first stream", c.ACL_ERROR_RT_STREAM_UNJOINED
            )

    def run(self, stream: Stream) -> None:
        """Put all of it on a stream."""
        for task, work, size in self.nodes:
            stream.submit(task, None if work is None else replace(work), size=size)

    def destroy(self) -> None:
        """Make the handle a dead one; work that is queued is run all the same."""
        handles.retire(self.handle)
        for function in self.owned:
            function()
        self.owned.clear()


_active: list[Model] = []
_lock = threading.Lock()


def is_active() -> bool:
    """Whether anything is being captured: then C asks before it copies."""
    return bool(_active)


def refuse(call: str, code: int = c.ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT) -> None:
    """Refuse a call that would not be captured, where the mode of a capture asks for that."""
    for model in _active:
        if model.mode == c.ACL_MODEL_RI_CAPTURE_MODE_GLOBAL or (
            model.mode == c.ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL and model.thread == threading.get_ident()
        ):
            raise CaptureError(f"{call} cannot be captured, and stream {model.origin.handle:#x} is being captured", code)


def refuse_stream(stream: Stream, call: str) -> None:
    """Refuse to wait for, ask or destroy a stream whose work is only kept."""
    if stream.capture is not None:
        raise CaptureError(f"{call}: stream {stream.handle:#x} is captured", c.ACL_ERROR_RT_STREAM_CAPTURED)
