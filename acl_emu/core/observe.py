"""Watching a program: what the checker, the trace, the report and the log are told.

Nothing is watched by default, and then every place that could tell something only looks at ``watching``. Tools derive from ``Tool`` and
override what they want to hear. They are called on the thread where it happens, and must not call acl functions.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from acl_emu.core import ending
from acl_emu.core.errors import AclError, take_reported

if TYPE_CHECKING:
    from acl_emu.runtime.event import Event
    from acl_emu.runtime.executor import Executor
    from acl_emu.runtime.memory import Allocation, DeviceMemory, Region
    from acl_emu.runtime.stream import Stream
    from acl_emu.runtime.tensor import BoundOperand

_NOT_THE_PROGRAM = (os.path.dirname(os.path.dirname(os.path.realpath(__file__))), contextlib.__file__, "<")
_INSTALLED = tuple({sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")})
"""Where Python and its packages are."""


@dataclass(frozen=True)
class Place:
    """Where in the program something happened: an address of a C program, a line of a Python one, or both where Python calls a library."""

    address: int = 0
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Span:
    """Memory that is read or written: elements of ``item`` bytes, ``shape`` and ``strides`` (in bytes) from ``address`` on."""

    name: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item: int

    @staticmethod
    def flat(name: str, address: int, size: int) -> Span:
        """Bytes in a row."""
        return Span(name, address, (size,), (1,), 1)

    @property
    def empty(self) -> bool:
        """Whether there is no element."""
        return 0 in self.shape

    @property
    def end(self) -> int:
        """The address behind the last byte."""
        if self.empty:
            return self.address
        return self.address + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)) + self.item

    def runs(self, most: int = 4096) -> list[tuple[int, int]]:
        """The bytes as ranges (first, past the last); as one range from first to last byte where there would be more than ``most``."""
        if self.empty:
            return []
        axes = sorted(((s, n) for n, s in zip(self.shape, self.strides, strict=True) if n > 1 and s), reverse=True)
        width = self.item
        while axes and axes[-1][0] <= width:
            stride, count = axes.pop()
            width = (count - 1) * stride + width
        total = 1
        for _, count in axes:
            total *= count
        if total > most:
            return [(self.address, self.end)]
        starts = [self.address]
        for stride, count in axes:
            starts = [start + i * stride for start in starts for i in range(count)]
        return [(start, start + width) for start in sorted(starts)]


def span_of(operand: BoundOperand) -> Span:
    """The memory of a tensor; where elements share a byte, the bytes that hold them."""
    layout = operand.view.layout
    return Span(operand.name, (operand.address or 0) + layout.offset, layout.shape, layout.strides, layout.dtype.itemsize)


@dataclass
class Call:
    """One call of an acl function or of one phase of an operator."""

    number: int
    name: str
    parameters: tuple[str, ...]
    arguments: tuple[Any, ...]
    thread: int
    place: Place
    begin: int
    """time.perf_counter_ns when it began."""
    end: int = 0
    status: int | None = None
    """None where the result is no status."""
    results: tuple[Any, ...] = ()
    error: AclError | None = None


@dataclass
class Work:
    """One queued task, or one access of the host."""

    kind: str
    """``kernel``, ``copy``, ``fill``, ``record``, ``wait``, ``reset`` or ``callback``."""
    label: str
    reads: tuple[Span, ...] = ()
    writes: tuple[Span, ...] = ()
    workspace: Span | None = None
    executor: int = 0
    """Handle of the executor that a kernel comes from."""
    event: Event | None = None
    call: Call | None = None
    stream: Stream | None = None
    place: int = 0
    """Its place in the stream."""
    attributes: dict[str, Any] = field(default_factory=dict)


class Tool:
    """What can be heard; everything does nothing here."""

    def call_begins(self, call: Call) -> None:
        """A function is entered."""

    def refuses(self, call: Call) -> AclError | None:
        """Asked before a call is carried out: with an error it is not, and fails with it."""

    def call_ends(self, call: Call) -> None:
        """It returns: status, results and error are set."""

    def object_made(self, handle: int, thing: object) -> None:
        """A handle was issued."""

    def object_gone(self, handle: int, thing: object) -> None:
        """A handle was retired."""

    def allocated(self, memory: DeviceMemory, allocation: Allocation) -> None:
        """Device memory was given out."""

    def freed(self, memory: DeviceMemory, allocation: Allocation) -> None:
        """Device memory was given back."""

    def mapped(self, memory: Region, address: int, size: int) -> None:
        """Addresses of a virtual range have memory now."""

    def unmapped(self, memory: Region, address: int, size: int) -> None:
        """They have none any more."""

    def planned(self, executor: Executor) -> None:
        """Phase one succeeded."""

    def submitted(self, work: Work) -> None:
        """Work was put on a stream; ``work.stream`` and ``work.place`` say where."""

    def replaces(self, task: Callable[[], object], work: Work) -> Callable[[], object]:
        """Asked before work is put on a stream: what runs there instead of ``task``."""
        return task

    def task_begins(self, stream: Stream, place: int) -> None:
        """A stream begins a task."""

    def task_ends(self, stream: Stream, place: int, error: AclError | None) -> None:
        """A stream has done a task."""

    def host_waited(self, stream: Stream, place: int) -> None:
        """The calling thread knows that a stream has come to ``place``."""

    def host_accesses(self, work: Work) -> None:
        """The calling thread reads or writes device memory itself, at once."""

    def logged(self, level: int, text: str) -> None:
        """The program has a line for the log."""

    def close(self) -> None:
        """The process ends."""


class Watch:
    """The tools that listen; each hears everything."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = list(tools)
        self._listeners: dict[str, list[Callable[..., Any]]] = {}

    def listeners(self, what: str) -> list[Callable[..., Any]]:
        """The methods of the tools that want to hear something: those that override it."""
        found = self._listeners.get(what)
        if found is None:
            found = [getattr(tool, what) for tool in self.tools if getattr(type(tool), what) is not getattr(Tool, what)]
            self._listeners[what] = found
        return found

    def tell(self, what: str, *facts: Any) -> None:
        """Tell every tool that wants to hear it."""
        for listener in self.listeners(what):
            listener(*facts)

    def call(
        self,
        name: str,
        parameters: tuple[str, ...],
        arguments: tuple[Any, ...],
        function: Callable[[], Any],
        *,
        status_last: bool,
        refuse: Callable[[AclError], Any],
    ) -> Any:
        """Carry out a call and tell of it; ``refuse`` gives the answer of a call that a tool refuses."""
        call = Call(next(_numbers), name, parameters, arguments, threading.get_ident(), here(), time.perf_counter_ns())
        outer, _thread.call = _thread.call, call
        take_reported()
        self.tell("call_begins", call)
        try:
            refusal = next(filter(None, (refuses(call) for refuses in self.listeners("refuses"))), None)
            answer = function() if refusal is None else refuse(refusal)
            results = answer if isinstance(answer, tuple) else (answer,)
            if status_last:
                call.status, call.results = results[-1], results[:-1]
            else:
                call.results = results
            return answer
        finally:
            call.end = time.perf_counter_ns()
            call.error = take_reported()
            self.tell("call_ends", call)
            _thread.call = outer

    def task(self, task: Callable[[], object], work: Work) -> Callable[[], object]:
        """What is put on a stream as ``task``."""
        for replaces in self.listeners("replaces"):
            task = replaces(task, work)
        return task


class AtFirstCall(Watch):
    """Stands for what starts when the program makes its first call."""

    def __init__(self, start: Callable[[], None]) -> None:
        super().__init__(())
        self._start = start
        self._starting = threading.Lock()

    def start(self) -> None:
        """Start them now; the one that comes first does."""
        global watching, started
        with self._starting:
            if watching is self:
                watching, started = None, True
                self._start()
                _changed()

    def call(self, name: str, parameters: tuple[str, ...], arguments: tuple[Any, ...], function: Callable[[], Any], **how: Any) -> Any:
        """Carry out the first call."""
        self.start()
        return function() if watching is None else watching.call(name, parameters, arguments, function, **how)


def _nothing() -> None:
    """What starts where nobody watches."""


watching: Watch | None = AtFirstCall(_nothing)
"""Set while something is watched, and until the first call."""

started = False
"""Whether the program has made a call."""

on_change: Callable[[], None] | None = None
"""Called when ``watching`` has been set or cleared."""


def _changed() -> None:
    if on_change is not None:
        on_change()


_numbers = itertools.count(1)


class _Thread(threading.local):
    call: Call | None = None
    c_address: int = 0


_thread = _Thread()


def replace(watch: Watch) -> None:
    """Let this one hear everything from now on, and nobody else."""
    global watching
    watching = watch
    _changed()


def watch(*tools: Tool) -> None:
    """Listen with these tools from now on, besides those that listen already."""
    global watching
    if isinstance(watching, AtFirstCall):
        watching.start()
    watching = Watch([*(watching.tools if watching else []), *tools])
    _changed()


@contextlib.contextmanager
def watched(*tools: Tool) -> Iterator[None]:
    """Listen with these tools for a while: for tests."""
    global watching
    if isinstance(watching, AtFirstCall):
        watching.start()
    before = watching
    watch(*tools)
    try:
        yield
    finally:
        watching = before
        _changed()


@ending.when_finished
def close() -> None:
    """The process ends: let every tool finish."""
    global watching
    tools, watching = watching, None
    _changed()
    if tools is not None:
        tools.tell("close")


def current_call() -> Call | None:
    """The call that the calling thread is in."""
    return _thread.call


def entered_from_c(address: int) -> None:
    """The calling thread comes from C, from this return address; 0 when it leaves."""
    _thread.c_address = address


def here() -> Place:
    """Where in the program the calling thread is."""
    if _thread.c_address:
        return _called_from(sys._getframe(1), _thread.c_address)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM):
        frame = frame.f_back
    return Place(file=frame.f_code.co_filename, line=frame.f_lineno)


def _called_from(frame: FrameType | None, address: int) -> Place:
    """In a library that was called by Python: the line of the program itself, below the packages that lie between."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_NOT_THE_PROGRAM) and not name.startswith(_INSTALLED):
            return Place(address, name, frame.f_lineno)
        frame = frame.f_back
    return Place(address)
