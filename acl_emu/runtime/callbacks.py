"""Host callbacks: the thread that runs the host functions of a context, and queues of callbacks for threads of the program."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from acl_emu.core._bridge import lib
from acl_emu.core.errors import RtParamInvalid

if TYPE_CHECKING:
    from acl_emu.runtime.stream import Stream

Task = Callable[[], object]

exiting = False
"""Whether the process ends: no other thread runs anything any more."""


class _Running(threading.local):
    in_callback = False


_running = _Running()


def in_callback() -> bool:
    """Whether the calling thread runs a host callback."""
    return _running.in_callback


def refuse_in_callback(call: str) -> None:
    """Waiting inside a host callback would wait for the callback itself."""
    if in_callback():
        raise RtParamInvalid(f"{call} is not allowed inside a host callback: the stream waits for the callback to return")


def closed_lock() -> threading.Lock:
    """A lock that another thread opens once."""
    lock = threading.Lock()
    lock.acquire()
    return lock


Jobs = SimpleQueue[tuple[Task, threading.Lock] | None]
"""What a thread has to run, and what it opens then; None ends it."""


class HostThread:
    """The internal thread that runs the host functions of one context."""

    def __init__(self) -> None:
        self._jobs: Jobs = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, function: Task) -> None:
        """Run ``function`` on the thread and wait for it."""
        if exiting:  # Python ends its threads, or has ended them
            _call_here(function)
            return
        finished = closed_lock()
        with self._lock:
            if self._thread is None:
                self._jobs = SimpleQueue()  # one for each thread, so that none meets the end of another, and each its own last
                self._thread = threading.Thread(target=self._work, args=(self._jobs,), name="acl-emu host functions", daemon=True)
                self._thread.start()
            self._jobs.put((function, finished))
        finished.acquire()

    def close(self) -> None:
        """End the thread."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._jobs.put(None)
        if thread is not None:
            thread.join()

    def _work(self, jobs: Jobs) -> None:
        _running.in_callback = True
        while (job := jobs.get()) is not None:
            function, finished = job
            try:
                call_user(function)
            finally:
                finished.release()


def call_user(function: Task) -> None:
    """Run a user's callback; what it raises is shown, never passed on into the runtime."""
    try:
        function()
    except Exception:
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))


class ReportQueue:
    """The callbacks that wait for one user thread to call aclrtProcessReport."""

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.streams: set[Stream] = set()
        self._jobs: SimpleQueue[tuple[Task, threading.Lock]] = SimpleQueue()

    def launch(self, stream: Stream, function: Task, *, block: bool) -> None:
        """Hand a callback over; with ``block``, return when it has run or the stream has been unsubscribed."""
        finished = closed_lock()
        if block and (stream.eager or exiting) and threading.get_ident() == self.thread:
            _call_here(function)  # the thread that has to process the report is the one that waits here
            function = _nothing
        self._jobs.put((function, finished))
        while block and function is not _nothing and not finished.acquire(timeout=0.05):
            if stream not in self.streams:
                return

    def process(self, seconds: float | None) -> bool:
        """Run one callback on the calling thread; False when none came in time."""
        with ExitStack() as watching:
            for stream in list(self.streams):
                if exiting:
                    stream.run_until(stream.submitted)
                watching.enter_context(stream.watched())
            try:
                function, finished = self._jobs.get(timeout=seconds)
            except Empty:
                return False
        try:
            _call_here(function)
        finally:
            finished.release()
        return True


def _call_here(function: Task) -> None:
    """Run a user's callback on the calling thread."""
    outer, _running.in_callback = _running.in_callback, True
    lib.acl_emu_new_epoch()
    try:
        call_user(function)
    finally:
        _running.in_callback = outer


def _nothing() -> None:
    """A callback that has already run."""
