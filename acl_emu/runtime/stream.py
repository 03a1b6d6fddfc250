"""Streams.

A stream is an in-order queue. A background thread works it off; a thread that waits for a stream works on it too, because handing a
short task over to another thread costs more than the task. For the same reason the background thread leaves short tasks alone for a
fraction of a millisecond (see ``c/wakeup.c``), and begins long ones at once. ``ACL_EMU_SCHEDULE`` changes when tasks run:

=========  ================================================================================================
``async``  in the background, as on a device
``lazy``   only when someone waits, so that a program that forgets to synchronize fails every time
``eager``  inside the call that submits
=========  ================================================================================================

A task that fails does not raise in the call that queued it: the stream keeps the error for its next synchronize and goes on.

A signal handler that raises, as Ctrl-C does, may stop the main thread of a Python program behind any call. So nothing is only known to a
local variable that others wait for: places, the turn and what waits are kept where a ``finally`` finds them, and a task is there until it
is done.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from acl_emu.core import constants as c
from acl_emu.core import ending, handles, observe, soc
from acl_emu.core._bridge import ffi, lib
from acl_emu.core.errors import AclError, DeviceFault, InvalidHandle, without_frames
from acl_emu.runtime import callbacks
from acl_emu.runtime.callbacks import ReportQueue, Task, closed_lock, in_callback, refuse_in_callback

if TYPE_CHECKING:
    from acl_emu.runtime.capture import Model
    from acl_emu.runtime.context import Context

_IDLE_NANOSECONDS = 2_000_000_000
"""A background thread that had nothing to do for so long ends; the next task starts a new one."""

LONG = 1 << 23
"""Bytes: a task that reads and writes as many is long."""


make_launch: Callable[[int, list[int], int, int, Any], Task] | None = None
"""The task of a launch that waits in a queue: the number of its plan, addresses of the tensors, workspace, how many of its kernels have
been run, the launch. Set by ``runtime.plans``."""


def _run_launch(launch: Any) -> None:
    """Run what C has put on a stream."""
    assert make_launch is not None
    count = launch.operands.count
    addresses = ffi.new("uint64_t[]", count)
    lib.acl_emu_addresses(launch, addresses, count)
    make_launch(launch.plan.number, list(addresses), launch.workspace, launch.done, launch)()


class Stream:
    """An in-order queue of tasks."""

    c_name = "aclrtStream"

    def __init__(self, context: Context, priority: int = 0, flags: int = 0) -> None:
        self.context = context
        self.priority = priority
        self.flags = flags
        self.never_waits = bool(flags & (c.ACL_STREAM_PERSISTENT | c.ACL_STREAM_DEVICE_USE_ONLY | c.ACL_STREAM_CPU_SCHEDULE))
        """Whether the device drives it by itself: synchronizing it succeeds at once."""
        self.handle = handles.issue(self)
        self.number = next(_numbers)
        self.stop_on_failure = False
        self.overflow_switch = 0
        self.attributes: dict[int, int] = {}
        """Those of aclrtSetStreamAttribute that change nothing."""
        self.remark = ""
        """Why it may never be done, for the message of a time-out."""
        self.subscriber: ReportQueue | None = None
        self.uses_host_functions = False
        self._schedule = soc.schedule()
        self._error: AclError | None = None
        self._tasks: dict[int, Task] = {}
        """What waits to be run, by place; launches of quick calls wait in the queue."""
        self._lock = threading.Lock()
        self._gates: list[threading.Lock] = []
        """What threads wait at for others to get on."""
        self._worker: threading.Thread | None = None
        self.queue = ffi.gc(lib.acl_emu_queue_new(), lib.acl_emu_queue_leave)
        """What C shares: places, whose turn it is, who waits, and launches of quick calls."""
        self.queue.signals = self._schedule == "async"
        self.queue.waits = not self.never_waits
        self.queue.troubled = context.stopped is not None
        self._wakeup = ffi.addressof(self.queue, "wakeup")
        self.closed = False
        self.capture: Model | None = None
        """What keeps the work that is put here, instead of running it."""
        _streams.add(self)

    @property
    def about(self) -> str:
        """Which one it is, for the repr of its handle."""
        return f"{self.number} of device {self.context.device.index}"

    @property
    def submitted(self) -> int:
        """The place of the last task."""
        place: int = self._wakeup.submitted
        return place

    @property
    def done(self) -> int:
        """The place of the last task that has been run."""
        place: int = self.queue.done
        return place

    @property
    def idle(self) -> bool:
        """Whether everything submitted is done."""
        return self.done >= self.submitted

    def submit(self, task: Task, work: observe.Work | None = None, *, size: int = 0) -> int:
        """Queue a task; the number that comes back is its place in the stream.

        ``work`` describes it for whoever watches. ``size``: the bytes that it reads and writes.
        """
        refuse_in_callback("putting work on a stream")
        if self.capture is not None:
            self.capture.add(self, task, work, size)
            return self.submitted
        with self._lock:
            if self.closed:
                raise InvalidHandle(f"stream {handles.describe(self.handle)} was destroyed while work was submitted to it")
            before, urgent = self.queue.numbered, size >= LONG or self.queue.watchers > 0
            try:
                lib.acl_emu_queue_number(self.queue, urgent)
            finally:
                place: int = self.queue.numbered
                if place != before:
                    try:
                        if observe.watching is not None:
                            work = work or observe.Work("callback", "host callback")
                            work.stream, work.place, work.call = self, place, observe.current_call()
                            observe.watching.tell("submitted", work)
                            task = observe.watching.task(task, work)
                    finally:
                        self._tasks[place] = task
            if self._worker is None and self._schedule == "async":
                self._start_worker()
        if self._schedule == "eager":
            self.run_until(place)
        return place

    def open_queue(self) -> bool:
        """Whether C may put work here by itself: not what runs inside the call or is captured. Somebody has to be there who runs it."""
        if self._schedule == "async":
            with self._lock:
                if self._worker is None:
                    self._start_worker()
        return not self.eager and self.capture is None

    def run_until(self, place: int) -> None:
        """Return when the task at ``place`` is done, working on the queue meanwhile."""
        try:
            while self.done < place:
                try:
                    if not self._begin(place):
                        break
                    self._wakeup.taken = place
                    while self.done < place and self._run_next(place):
                        pass
                finally:
                    lib.acl_emu_queue_end(self.queue)
                    self._tell_waiting()
        finally:
            self._hand_on()

    def wait_for_host(self, place: int) -> None:
        """The same for a thread of the program, which then knows that the stream has come so far."""
        self.run_until(place)
        self.tell_reached(place)

    def tell_reached(self, place: int) -> None:
        """The calling thread of the program knows that ``place`` is reached."""
        if observe.watching is not None:
            observe.watching.tell("host_waited", self, place)

    def wait_until(self, place: int, seconds: float) -> bool:
        """Wait for the task at ``place`` without working, so that a time-out can be kept; False when it has passed."""
        if callbacks.exiting:  # there is no other thread that works
            self.run_until(place)
        deadline = time.monotonic() + seconds
        with self.watched():
            while self.done < place:
                gate = self._gate()
                left = deadline - time.monotonic()
                if self.done < place and (left <= 0 or not gate.acquire(timeout=left)):
                    return self.done >= place
        return True

    @contextmanager
    def watched(self) -> Iterator[None]:
        """While someone waits without working, the background thread has to, whatever the schedule."""
        counted = False
        try:
            with self._lock:
                self.queue.watchers += 1
                counted = True
                self._call_worker(urgent=True)
            yield
        finally:
            with self._lock:
                self.queue.watchers -= counted

    def step(self) -> None:
        """One task of a lazy stream: a program that polls instead of waiting makes progress all the same."""
        if self._schedule != "lazy" or in_callback():
            return
        try:
            if lib.acl_emu_queue_begin(self.queue):
                self._run_next(self.done + 1)
        finally:
            lib.acl_emu_queue_end(self.queue)
            self._tell_waiting()
        self._hand_on()

    def _hand_on(self) -> None:
        """Leave what is still queued to the background thread, where it is its turn."""
        if self.done < self.submitted and (self._schedule == "async" or self.queue.watchers):
            with self._lock:
                self._wakeup.taken = self.done
                self._call_worker(urgent=self.queue.watchers > 0)

    def expect_hang(self, why: str) -> None:
        """A task will not end: from now on the background thread runs all tasks, whatever the schedule, so that calls return."""
        self._schedule = "async"
        self.queue.signals = True
        lib.acl_emu_wakeup_signal(self._wakeup, False)
        self.remark = f"; {why}"

    @property
    def eager(self) -> bool:
        """Whether tasks run inside the call that submits them."""
        return self._schedule == "eager"

    def take_error(self) -> AclError | None:
        """The first failure since the last synchronize; in stop mode it stays."""
        if self.context.stopped is not None:
            return self.context.stopped
        with self._lock:
            error, self._error = self._error, None
            self.queue.troubled = False
        return error

    def close(self, *, wait: bool) -> None:
        """Destroy the stream: after its work, or at once, dropping what is still queued."""
        if wait:
            self.wait_for_host(self.submitted)
        with self._lock:
            self.closed = True
            lib.acl_emu_queue_close(self.queue)
            self._tasks.clear()
            if not self.queue.turn:
                self.queue.done = self.submitted
            worker = self._worker
            self._open_gates()
        if self.subscriber is not None:
            self.subscriber.streams.discard(self)
        handles.retire(self.handle)
        if wait and worker is not None and worker is not threading.current_thread():
            worker.join()

    def _call_worker(self, *, urgent: bool) -> None:
        """With the lock held: make sure that a background thread will look at the queue; at once, or when nobody else does."""
        if self._worker is None:
            self._start_worker()
        lib.acl_emu_wakeup_signal(self._wakeup, urgent)

    def _start_worker(self) -> None:
        if not self.closed and not callbacks.exiting:
            worker = threading.Thread(target=self._work, name=f"acl-emu stream {self.handle:#x}", daemon=True)
            worker.start()
            self._worker = worker

    def _work(self) -> None:
        while (called := lib.acl_emu_queue_serve(self.queue, _IDLE_NANOSECONDS)) >= 0:
            if not called:
                with self._lock:
                    lib.acl_emu_new_epoch()  # from now on C asks before it puts work here
                    if self.idle:
                        self._worker = None
                        return
                continue
            self._tell_waiting()
            self._wakeup.taken = self.submitted  # who runs tasks now calls again when it leaves some
            if self.queue.waiting or not lib.acl_emu_queue_begin(self.queue):
                continue
            try:
                while not self.queue.waiting and not callbacks.exiting and self._run_next(self.submitted):
                    pass
            finally:
                lib.acl_emu_queue_end(self.queue)
                self._tell_waiting()
            self._wakeup.taken = self.done

    def _begin(self, place: int) -> bool:
        """Become the thread that runs the tasks; False when ``place`` was reached in the meantime.

        Waiting for the place as well, not only for the turn, keeps two streams that wait for each other's events from locking up.
        """
        if lib.acl_emu_queue_begin(self.queue):
            return True
        counted = False
        try:
            with self._lock:
                self.queue.waiting += 1
                counted = True
            while self.done < place:
                gate = self._gate()
                if lib.acl_emu_queue_begin(self.queue):
                    return True
                if self.done < place:
                    gate.acquire()
        finally:
            with self._lock:
                self.queue.waiting -= counted
        return False

    def _gate(self) -> threading.Lock:
        """What opens when a thread has got on: who looks after this, and then waits there, misses nothing."""
        gate = closed_lock()
        with self._lock:
            self._gates.append(gate)
        return gate

    def _open_gates(self) -> None:
        """With the lock held: let all look again. Not a condition variable, which a signal can leave without its lock."""
        for gate in self._gates:
            if gate.locked():
                gate.release()
        self._gates = []

    def _tell_waiting(self) -> None:
        if self.queue.waiting or self.queue.watchers:
            with self._lock:
                self._open_gates()

    def _run_next(self, last: int) -> bool:
        """As the thread that runs the tasks: run the oldest one, or some that need no Python, up to ``last``; False where there is none."""
        if lib.acl_emu_queue_run(self.queue, last):
            return True
        place = self.done + 1
        task = self._tasks.get(place) or self._find_launch(place)
        if task is None:
            return False
        failure: AclError | None = None
        try:
            if observe.watching is not None:
                observe.watching.tell("task_begins", self, place)
            if self.context.stopped is None:
                task()
        except AclError as error:
            failure = error
        except Exception as error:
            failure = DeviceFault(f"a task stopped with {type(error).__name__}: {error}")
        finally:
            try:
                if failure is not None:
                    self._fail(failure)
                if observe.watching is not None:
                    observe.watching.tell("task_ends", self, place, failure)
            finally:
                if place in self._tasks:
                    del self._tasks[place]
                lib.acl_emu_queue_reach(self.queue, place)
        self._tell_waiting()
        return True

    def _find_launch(self, place: int) -> Task | None:
        """What a quick call put on the stream at this place; what goes wrong with it is a failure of the task."""
        launch = ffi.new("acl_emu_launch *")
        if lib.acl_emu_queue_next(self.queue, place, launch):
            owned = ffi.gc(launch, lib.acl_emu_release_launch)
            return lambda: _run_launch(owned)
        with self._lock:  # whoever has got the place may not have come to use it
            return self._tasks.get(place)

    def _fail(self, error: AclError) -> None:
        without_frames(error)
        with self._lock:
            if self._error is None:
                self._error = error
            self.queue.troubled = True
        if self.stop_on_failure:
            self.context.stopped = error
            for stream in list(self.context.streams):
                stream.queue.troubled = True


_numbers = itertools.count()
_streams: weakref.WeakSet[Stream] = weakref.WeakSet()


@ending.when_stopping
def stop_workers(seconds: float = 2.0) -> None:
    """At the end of the process: no new task is begun, and one that is running may end, unless it is the one that ends the process."""
    callbacks.exiting = True
    deadline = time.monotonic() + (0 if in_callback() else seconds)
    for stream in list(_streams):
        worker = stream._worker  # without its lock: a signal handler may call exit while its thread holds it
        lib.acl_emu_wakeup_close(stream._wakeup)
        if worker is not None and worker is not threading.current_thread():
            worker.join(max(0.0, deadline - time.monotonic()))
