"""The trace: what a program did, as a file that ui.perfetto.dev and chrome://tracing show.

The file is a JSON array of trace events, one a line. It is valid at every moment, so that it is complete however the program ends: each
addition puts new events where the closing bracket was, then calls and tasks that have begun but not ended, then the bracket again.

=============================  =======================================================================================
process 1, one track a thread  calls (``X``), with arguments, results and status
process 10 + device            one track a stream: kernels, copies, event records and waits; a counter of memory in use
flow ``launch``                from phase one to phase two to the kernel
flow ``event``                 from the record of an event to the wait for it on another stream
flow ``synchronize``           from the last task of a stream to the call that waited for it
=============================  =======================================================================================
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acl_emu.core import observe, soc
from acl_emu.core.documented import PHASE_ONE
from acl_emu.core.errors import AclError
from acl_emu.core.observe import Call, Place, Span, Tool, Work
from acl_emu.runtime.event import Event
from acl_emu.runtime.executor import Executor
from acl_emu.runtime.memory import Allocation, DeviceMemory
from acl_emu.runtime.stream import Stream
from acl_emu.tools import spell
from acl_emu.tools.growing_file import GrowingFile
from acl_emu.tools.trace_file import END, encode, file_for_this_process

HOST = 1
FIRST_DEVICE = 10
PHASE_TWO = ("workspace", "workspaceSize", "executor", "stream")

_MOST_ADDRESSES = 10_000


@dataclass(frozen=True)
class Point:
    """A moment on a track, for arrows."""

    nanoseconds: int
    process: int
    track: int

    def later(self, nanoseconds: int) -> Point:
        """Another moment on the same track: an arrow must not point backwards."""
        return Point(max(self.nanoseconds, nanoseconds), self.process, self.track)


@dataclass
class _Task:
    """What is known of a queued task until it is done."""

    name: str
    category: str
    arguments: dict[str, Any]
    one: Point | None = None
    two: Point | None = None
    event: int = 0
    """Handle of the event that it records."""
    waits_for: tuple[int, int] | None = None
    begin: int = 0
    text: str = ""
    """Its arguments, encoded, without the closing brace."""


@dataclass
class _Planned:
    """What phase one decided, until its executor is gone."""

    point: Point
    number: int
    arguments: dict[str, Any]


@dataclass
class _Queue:
    """The tasks of one stream, and the last one that was done."""

    process: int
    track: int
    tasks: dict[int, _Task] = field(default_factory=dict)
    done: tuple[int, Point] | None = None


@dataclass
class _Begun:
    """A call that has not ended."""

    point: Point
    given: dict[str, str]
    """The arguments in words."""
    text: str = ""
    """What was known when it began, encoded, without the closing brace."""
    more: dict[str, Any] = field(default_factory=dict)
    """What is known since."""
    planned: _Planned | None = None
    launched: bool = False
    waited: list[Point] = field(default_factory=list)


class _Thread(threading.local):
    track = 0


class Tracer(Tool):
    """Writes the trace of this process."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._file: GrowingFile | None = None
        """Opened at the first event: a process that only starts others leaves the file to them."""
        self._gone = False
        self._lock = threading.Lock()
        self._open: dict[object, str] = {}
        """Calls and tasks that have begun, as the events that stand for them meanwhile."""
        self._start = time.perf_counter_ns()
        self._tracks = itertools.count(1)
        self._flows = itertools.count(1)
        self._thread = _Thread()
        self._begun: dict[int, _Begun] = {}
        self._queues: dict[int, _Queue] = {}
        self._planned: dict[int, _Planned] = {}
        self._recorded: dict[int, tuple[tuple[int, int], Point]] = {}
        """The last record of each living event: which task it was, and when it was done."""
        self._awaited: dict[tuple[int, int], Point | None] = {}
        """Records that streams wait for."""
        self._devices: set[int] = set()
        self._watch: observe.Watch | None = None
        """Who listens with it: at the end nobody is listening any more."""
        self._addresses: set[int] = set()
        """Where calls of a C program came from: as many as it has calls in its text."""
        self._modules: list[tuple[int, int, str]] = []
        os.register_at_fork(after_in_child=self._leave)

    # Writing

    def _leave(self) -> None:
        """Write no more: a forked child must not write into its parent's file. A thread that is not there any more may have the lock."""
        self._file, self._gone, self._lock = None, True, threading.Lock()

    def _put(self, events: Iterable[dict[str, Any]]) -> None:
        """Add events."""
        lines = "".join(",\n" + encode(event) for event in events)
        with self._lock:
            self._append(lines)

    def _begin(self, key: object, name: str, category: str, point: Point, facts: str) -> None:
        """Something begins: it stands in the file until it ends."""
        line = f',\n{{"name":{encode(name)},"cat":"{category}","ph":"B",{self._at_text(point)},"args":{facts}}}}}'
        with self._lock:
            self._open[key] = line
            self._append("")

    def _end(self, key: object, name: str, category: str, point: Point, end: int, facts: str, arrows: Iterable[dict[str, Any]]) -> None:
        """It ends; arrows belong to it."""
        duration = max(0, end - point.nanoseconds) / 1000
        line = f',\n{{"name":{encode(name)},"cat":"{category}","ph":"X","dur":{duration},{self._at_text(point)},"args":{facts}}}}}'
        line += "".join(",\n" + encode(arrow) for arrow in arrows)
        with self._lock:
            self._open.pop(key, None)
            self._append(line)

    def _append(self, text: str) -> None:
        if self._gone:
            return
        tail = "".join(self._open.values()) + END
        try:
            if self._file is None:
                self._file = GrowingFile(self.file)
                self.file = self._file.path
                text = _header() + text
            self._file.append(text.encode("utf-8", "replace"), tail.encode("utf-8", "replace"))
        except OSError as error:
            print(f"acl-emu: {self.file}: {error.strerror or error}; there is no more of the trace", file=sys.stderr)
            self._leave()

    def close(self) -> None:
        """Add what a checker found, and end the file."""
        self.end()

    def end(self) -> bool:
        """The same; False where there is no file, or it is another process's."""
        if self._file is not None:
            self._put(self._last_words())
        with self._lock:
            file, self._file, self._gone = self._file, None, True
        if file is not None:
            file.close()
        return file is not None

    def _last_words(self) -> Iterator[dict[str, Any]]:
        now = Point(time.perf_counter_ns(), HOST, 0)
        findings = list(self._findings())
        words = self._places_in_words([where for finding in findings for _, where in finding["places"]])
        for finding in findings:
            finding["places"] = [(role, words.get(place(where)) or place(where)) for role, where in finding["places"]]
            yield {"name": finding["kind"], "cat": "finding", "ph": "i", "s": "p", **self._at(now), "args": finding}
        if words:
            yield {"name": "places", "ph": "M", "ts": 0, "pid": HOST, "tid": 0, "args": words}

    def _findings(self) -> Iterator[dict[str, Any]]:
        """What tools that listened with this one have found, as far as they say so."""
        for tool in self._watch.tools if self._watch is not None else ():
            for finding in getattr(tool, "findings", ()):
                origin = getattr(finding, "origin", finding)
                places = [(str(getattr(origin, "call", "")), getattr(origin, "place", None))]
                places += [(str(role), getattr(other, "place", None)) for role, other in getattr(finding, "related", ())]
                yield {
                    "kind": str(getattr(finding, "kind", "finding")),
                    "text": str(getattr(finding, "text", finding)),
                    "advice": str(getattr(finding, "advice", "")),
                    "places": [(role, where) for role, where in places if isinstance(where, Place)],
                    "count": getattr(finding, "count", 1),
                }

    def _note_address(self, address: int) -> None:
        """Remember it, and write down which file it lies in: whoever reads the trace of a process that died can look it up."""
        if len(self._addresses) >= _MOST_ADDRESSES:
            return
        self._addresses.add(address)
        if not any(first <= address < last for first, last, _ in self._modules):
            from acl_emu.tools.checker.places import mapped_files

            mapped = mapped_files()
            files = {path for first, last, path in mapped if first <= address < last}
            found = [module for module in mapped if module[2] in files]
            self._modules += found
            self._put([{"name": "modules", "ph": "M", "ts": 0, "pid": HOST, "tid": 0, "args": {"ranges": found}}])

    def _places_in_words(self, more: list[Place]) -> dict[str, str]:
        """Function and line of the addresses that calls of a C program came from."""
        places = {*(Place(address=address) for address in self._addresses), *more}
        if not any(where.address for where in places):
            return {}
        from acl_emu.tools.checker.places import Places

        found = Places(places)
        return {place(where): found.text(where) for where in places}

    # Tracks

    def _track(self) -> int:
        """The track of the calling thread."""
        thread = self._thread
        if not thread.track:
            thread.track = next(self._tracks)
            self._put([_named("thread_name", HOST, thread.track, _thread_name())])
        return thread.track

    def _queue(self, stream: Stream) -> _Queue:
        queue = self._queues.get(stream.number)
        if queue is None:
            context = stream.context
            device = self._device(context.device.index)
            queue = self._queues[stream.number] = _Queue(device, stream.number + 1)
            default = " (default)" if getattr(context, "default_stream", None) is stream else ""
            self._put([_named("thread_name", device, queue.track, f"stream {stream.number}{default}")])
        return queue

    def _device(self, index: int) -> int:
        process = FIRST_DEVICE + index
        if index not in self._devices:
            self._devices.add(index)
            self._put([_named("process_name", process, 0, f"device {index} ({soc.current().name})"), _sorted(process, index)])
        return process

    def _microseconds(self, nanoseconds: int) -> float:
        return (nanoseconds - self._start) / 1000

    def _at(self, point: Point) -> dict[str, Any]:
        return {"ts": self._microseconds(point.nanoseconds), "pid": point.process, "tid": point.track}

    def _at_text(self, point: Point) -> str:
        return f'"ts":{self._microseconds(point.nanoseconds)},"pid":{point.process},"tid":{point.track}'

    def _arrow(self, name: str, *points: Point) -> Iterator[dict[str, Any]]:
        """An arrow through things that took time."""
        number = next(self._flows)
        for i, point in enumerate(points):
            phase: dict[str, Any] = {"ph": "s"} if i == 0 else {"ph": "f" if i == len(points) - 1 else "t", "bp": "e"}
            yield {"name": name, "cat": name, "id": number, **phase, **self._at(point)}

    # What is heard

    def call_begins(self, call: Call) -> None:
        """Stands in the file until it ends, with its arguments as they are now: it may destroy what they stand for."""
        if self._file is None and not self._gone:
            self._start = call.begin
        given = {name: spell.argument(value, name) for name, value in zip(call.parameters, call.arguments, strict=False)}
        point = Point(call.begin, HOST, self._track())
        self._watch = observe.watching or self._watch
        if call.place.address and call.place.address not in self._addresses:
            self._note_address(call.place.address)
        begun = self._begun[call.number] = _Begun(point, given)
        facts = {"call": call.number, "from": place(call.place), "arguments": given}
        if category(call) == "phase two":
            begun.planned = self._planned.get(call.arguments[2] or 0)
            if begun.planned is not None:
                facts["planned by"] = begun.planned.number
        begun.text = encode(facts)[:-1]
        self._begin(call.number, call.name, category(call), point, begun.text)

    def planned(self, executor: Executor) -> None:
        """Phase one keeps what it decided for the tasks that come from it."""
        call = observe.current_call()
        begun = self._begun.get(call.number) if call else None
        if call is None or begun is None:
            return
        plan = executor.plan
        decided: dict[str, Any] = {
            "reads": [_operand(operand) for operand in plan.reads],
            "writes": [_operand(operand) for operand in plan.writes],
            "workspace": plan.workspace.size,
        }
        begun.more["plan"] = {
            **decided,
            "parts": [[part.name, list(part.shape), str(part.dtype), part.offset, part.nbytes] for part in plan.workspace.parts],
            "empty": plan.empty,
        }
        self._planned[executor.handle] = _Planned(begun.point, call.number, decided)

    def call_ends(self, call: Call) -> None:
        """With its results, and the arrows that end in it."""
        begun = self._begun.pop(call.number, None)
        if begun is None:
            return
        more = begun.more
        if any(result is not None for result in call.results):
            more["results"] = [spell.argument(result) for result in call.results]
        if call.status is not None:
            more["status"] = call.status
            if call.status:
                more["status name"] = spell.status(call.status)
        if call.error is not None:
            more["error"] = str(call.error)
        arrows = [arrow for point in begun.waited for arrow in self._arrow("synchronize", point, begun.point.later(call.end - 1))]
        if begun.planned is not None and not begun.launched:
            arrows += self._arrow("launch", begun.planned.point, begun.point)
        facts = f"{begun.text},{encode(more)[1:-1]}" if more else begun.text
        self._end(call.number, call.name, category(call), begun.point, max(call.end, call.begin + 1), facts, arrows)

    def submitted(self, work: Work) -> None:
        """Remember what it is until it is done."""
        if work.stream is None:
            return
        begun = self._begun.get(work.call.number) if work.call else None
        arguments: dict[str, Any] = {"place": work.place}
        task = _Task(work.label, work.kind, arguments)
        if begun is not None and work.call is not None:
            arguments["call"] = work.call.number
            task.two = begun.point
            begun.launched = True
            if begun.planned is not None:
                task.one = begun.planned.point
                arguments["planned by"] = begun.planned.number
                arguments.update(begun.planned.arguments)
        if work.kind in ("copy", "fill"):
            arguments["reads"] = [_span(span) for span in work.reads]
            arguments["writes"] = [_span(span) for span in work.writes]
        if work.event is not None:
            arguments["event"] = spell.living(work.event.handle, work.event)
            self._submitted_event(task, work, work.event)
        self._queue(work.stream).tasks[work.place] = task

    def _submitted_event(self, task: _Task, work: Work, event: Event) -> None:
        if work.kind == "record":
            task.event = event.handle
        elif work.kind == "wait" and event.mark is not None:
            task.waits_for = (event.mark.stream.number, event.mark.place)
            which, point = self._recorded.get(event.handle, (None, None))
            self._awaited[task.waits_for] = point if which == task.waits_for else None

    def task_begins(self, stream: Stream, place: int) -> None:
        """Stands in the file until it ends."""
        queue = self._queue(stream)
        task = queue.tasks.get(place)
        if task is not None:
            task.begin = time.perf_counter_ns()
            point = Point(task.begin, queue.process, queue.track)
            task.text = encode(task.arguments)[:-1]
            self._begin((stream.number, place), task.name, task.category, point, task.text)

    def task_ends(self, stream: Stream, place: int, error: AclError | None) -> None:
        """With the arrows that end in it."""
        now = time.perf_counter_ns()
        queue = self._queue(stream)
        task = queue.tasks.pop(place, None)
        if task is None or not task.begin:
            return
        failure = f",{encode({'status': error.code, 'error': str(error)})[1:-1]}" if error is not None else ""
        point = Point(task.begin, queue.process, queue.track)
        arrows: list[dict[str, Any]] = []
        if task.two is not None:
            arrows += self._arrow("launch", *([task.one] if task.one else []), task.two, point)
        if task.event:
            self._recorded[task.event] = ((stream.number, place), point)
        if (stream.number, place) in self._awaited:
            self._awaited[stream.number, place] = point
        recorded = self._awaited.pop(task.waits_for, None) if task.waits_for else None
        if recorded is not None:
            arrows += self._arrow("event", recorded, point.later(now - 1))
        queue.done = (place, point)
        self._end((stream.number, place), task.name, task.category, point, now, task.text + failure, arrows)

    def host_waited(self, stream: Stream, place: int) -> None:
        """An arrow from the task to the call that waited for it."""
        call = observe.current_call()
        begun = self._begun.get(call.number) if call else None
        queue = self._queues.get(stream.number)
        if begun is not None and queue is not None and queue.done is not None and queue.done[0] == place:
            begun.waited.append(queue.done[1])

    def object_gone(self, handle: int, thing: object) -> None:
        """Nothing more comes of it."""
        if isinstance(thing, Executor):
            self._planned.pop(handle, None)
        elif isinstance(thing, Event):
            self._recorded.pop(handle, None)
        elif isinstance(thing, Stream):
            self._queues.pop(thing.number, None)

    def allocated(self, memory: DeviceMemory, allocation: Allocation) -> None:
        """The counter goes up."""
        self._count(memory)

    def freed(self, memory: DeviceMemory, allocation: Allocation) -> None:
        """The counter goes down."""
        self._count(memory)

    def _count(self, memory: DeviceMemory) -> None:
        point = Point(time.perf_counter_ns(), self._device(memory.device), 0)
        self._put([{"name": "memory in use", "cat": "memory", "ph": "C", **self._at(point), "args": {"bytes": memory.used}}])


def category(call: Call) -> str:
    """``phase one``, ``phase two`` or ``call``."""
    if call.parameters == PHASE_TWO:
        return "phase two"
    return "phase one" if call.name.startswith("aclnn") and call.name.endswith(PHASE_ONE) else "call"


def place(where: Place) -> str:
    """Where a call comes from."""
    return f"{where.file}:{where.line}" if where.file else hex(where.address)


def _operand(operand: Any) -> str:
    return f"{operand.name} {spell.view(operand.view)}"


def _span(span: Span) -> str:
    count = span.item
    for length in span.shape:
        count *= length
    return f"{span.name} {spell.size(count)} at {span.address:#x}"


def _program() -> str:
    """The name of the program, C or Python."""
    words = Path("/proc/self/cmdline").read_bytes().decode("utf-8", "replace").split("\0") if sys.platform == "linux" else sys.argv
    named = words[1] if len(words) > 1 and Path(words[0]).name.startswith("python") and not words[1].startswith("-") else words[0]
    return Path(named).name or "program"


def _thread_name() -> str:
    """Main thread, the name that Python has for it, or its number."""
    if threading.get_native_id() == os.getpid():
        return "main thread"
    known = {thread.ident: thread.name for thread in threading.enumerate()}
    return known.get(threading.get_ident()) or f"thread {threading.get_native_id()}"


def _header() -> str:
    """The first lines, which others follow after a comma."""
    name = _named("process_name", HOST, 0, f"{_program()} (process {os.getpid()})")
    return f"[\n{encode(name)},\n{encode(_sorted(HOST, -1))}"


def _named(what: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "ts": 0, "pid": process, "tid": track, "args": {"name": name}}


def _sorted(process: int, index: int) -> dict[str, Any]:
    return {"name": "process_sort_index", "ph": "M", "ts": 0, "pid": process, "tid": 0, "args": {"sort_index": index}}


def from_environment(value: str) -> Tracer:
    """ACL_EMU_TRACE=FILE."""
    return Tracer(file_for_this_process(value))
