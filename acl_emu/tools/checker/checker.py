"""The tool that listens, and hands what it hears to the rules."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from acl_emu.core import constants as c
from acl_emu.core import notes
from acl_emu.core.errors import AclError
from acl_emu.core.observe import Call, Tool, Work
from acl_emu.runtime import memory
from acl_emu.runtime.event import Event
from acl_emu.runtime.executor import Launch
from acl_emu.runtime.memory import Allocation, DeviceMemory, Region
from acl_emu.runtime.stream import Stream
from acl_emu.tools.checker.blocks import Block
from acl_emu.tools.checker.exit_code import set_exit_code, watch_exit_code
from acl_emu.tools.checker.findings import Finding, Findings, origin_now, origin_of
from acl_emu.tools.checker.lifecycle_rules import LifecycleRules
from acl_emu.tools.checker.memory_rules import MemoryRules
from acl_emu.tools.checker.object_rules import PHASE_TWO, ObjectRules
from acl_emu.tools.checker.options import Options
from acl_emu.tools.checker.order import Order
from acl_emu.tools.checker.record import record, record_end
from acl_emu.tools.checker.report import write_json
from acl_emu.tools.checker.status_rules import QUESTIONS, StatusRules

_COPIES = frozenset({"aclrtMemcpy", "aclrtMemcpyAsync", "aclrtMemcpy2d", "aclrtMemcpy2dAsync"})
_MARGIN = 4096
_FREES = {"aclrtFree": False, "aclrtFreeHost": True}
_LIFECYCLE = frozenset(
    {
        *("aclInit", "aclnnInit", "aclFinalize", "aclFinalizeReference"),
        *("aclrtSetDevice", "aclrtResetDevice", "aclrtResetDeviceForce"),
    }
)


class Checker(Tool):
    """Finds mistakes that a device hides or turns into a hang.

    ``options``: what is done with the findings when the process ends; None leaves them to who asks.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.findings = Findings(on_new=self._note if options is not None and notes.wanted() else None)
        self._options = options
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._order = Order()
        self._memory = MemoryRules(self.findings, self._order)
        self._objects = ObjectRules(self.findings)
        self._statuses = StatusRules(self.findings)
        self._lifecycle = LifecycleRules(self.findings)
        self._exit_code = watch_exit_code() if options is not None else lambda: None
        memory.host.margin = _MARGIN

    # Calls

    def call_begins(self, call: Call) -> None:
        """A thread goes on."""
        with self._lock:
            self._statuses.next_call(call)
            self._lifecycle.begins(call)
            if call.name == "aclrtFreeHost" and call.arguments and isinstance(call.arguments[0], int):
                self._memory.check_host(call.arguments[0], origin_of(call), call.parameters[0])

    def call_ends(self, call: Call) -> None:
        """Success: what it means. Failure: who is to blame."""
        name, status = call.name, call.status
        with self._lock:
            if status == c.ACL_SUCCESS:
                self._succeeded(call)
            elif status is not None:
                if status == c.ACL_ERROR_REPEAT_INITIALIZE:
                    self._lifecycle.ends(call)
                self._statuses.failed(call, self._explain(call))
            elif call.error is not None and name not in QUESTIONS:
                self._statuses.failed(call, [])

    def _succeeded(self, call: Call) -> None:
        name = call.name
        if call.parameters == PHASE_TWO:
            self._objects.runs(call)
        elif name in _COPIES:
            wrong = self._memory.check_sides(call)
            if wrong is not None:
                self.findings.add(wrong[0], origin_of(call), wrong[1], f"{name}: {wrong[2]}")
        elif name in _LIFECYCLE:
            self._lifecycle.ends(call)
        elif name == "aclrtMallocHost":
            self._memory.host.add(Block(call.results[0], call.arguments[0], origin_of(call)))
        elif name == "aclrtFreeHost":
            self._memory.free_host(call.arguments[0])

    def _explain(self, call: Call) -> list[Finding]:
        """What is wrong with a call that was refused, where a rule can tell."""
        origin = origin_of(call)
        if call.parameters == PHASE_TWO and call.status in (c.ACLNN_ERR_PARAM_NULLPTR, c.ACLNN_ERR_PARAM_INVALID):
            if not call.arguments[2]:
                return []
            kind, parameter = ("workspace-too-small", "workspaceSize") if call.arguments[0] else ("workspace-missing", "workspace")
            return [Finding(kind, origin, parameter, f"{call.error} (returned {call.status})")]
        found = self._objects.explain(call) or self._lifecycle.explain(call)
        if found:
            return found
        if call.name in _FREES:
            why = self._memory.explain_free(call, host=_FREES[call.name])
            if why is not None:
                found.append(Finding(why[0], origin, call.parameters[0], f"{why[1]} ({call.name} returned {call.status})", why[2]))
        elif call.name in _COPIES:
            wrong = self._memory.check_sides(call)
            if wrong is not None:
                found.append(Finding(wrong[0], origin, wrong[1], f"{wrong[2]} ({call.name} returned {call.status})"))
        return found

    # Objects and memory

    def object_made(self, handle: int, thing: object) -> None:
        """Remember where."""
        with self._lock:
            self._objects.made(handle, thing)

    def object_gone(self, handle: int, thing: object) -> None:
        """Remember where."""
        with self._lock:
            self._objects.gone(handle)
            if isinstance(thing, Stream):
                self._order.stream_ends(thing)
            elif isinstance(thing, Event):
                self._order.forget(thing)

    def allocated(self, memory: DeviceMemory, allocation: Allocation) -> None:
        """Remember where."""
        with self._lock:
            self._memory.device.add(Block(allocation.address, allocation.size, origin_now(), allocation))

    def freed(self, memory: DeviceMemory, allocation: Allocation) -> None:
        """Is anything queued that uses it?"""
        with self._lock:
            self._memory.free_device(allocation.address, allocation)

    def mapped(self, memory: Region, address: int, size: int) -> None:
        """Memory at addresses that were reserved."""
        with self._lock:
            self._memory.map_device(memory, address, size)

    def unmapped(self, memory: Region, address: int, size: int) -> None:
        """Is anything queued that uses it?"""
        with self._lock:
            self._memory.unmap_device(memory, address, size)

    # Work

    def submitted(self, work: Work) -> None:
        """Everything about a task is checked here, whenever it will run."""
        stream, place = work.stream, work.place
        with self._lock:
            self._memory.queue(work, not work.executor or self._objects.works_in_place(work.executor))
            if work.kind == "record":
                self._order.record(work.event, stream, place)
            elif work.kind == "wait":
                self._order.wait(stream, place, work.event)
            elif work.kind == "callback":
                self._order.callback(stream, place)

    def replaces(self, task: Callable[[], object], work: Work) -> Callable[[], object]:
        """The values of indices are known when the work runs."""
        executor = self._objects.executor(work.executor) if work.executor else None
        if executor is None or not (executor.plan.indices or executor.plan.remarks):
            return task
        plan = executor.plan

        def checked() -> object:
            with self._lock:
                self._memory.check_indices(work, plan.indices)
                if plan.remarks is not None and isinstance(task, Launch):
                    self._memory.check_data(work, plan.remarks, task.reads)
            return task()

        return checked

    def task_begins(self, stream: Stream, place: int) -> None:
        """A callback may tell the host how far the stream is."""
        with self._lock:
            self._order.begins(stream, place)

    def task_ends(self, stream: Stream, place: int, error: AclError | None) -> None:
        """A callback has returned."""
        with self._lock:
            self._order.ends(stream, place)

    def host_waited(self, stream: Stream, place: int) -> None:
        """What came before is over for the host."""
        with self._lock:
            self._order.host_waits(stream, place)

    def host_accesses(self, work: Work) -> None:
        """The host looks or writes now."""
        with self._lock:
            self._memory.access_now(work)

    # The end

    def finish(self) -> None:
        """Nothing comes any more: what is left over?"""
        with self._lock:
            self._statuses.end(self._exit_code())
            self._memory.check_host_at_end()
            self._objects.report_leaks()
            self._memory.report_leaks()
            self._lifecycle.end()

    def close(self) -> None:
        """The process ends: print, and choose its exit code."""
        if os.getpid() != self._process:  # a child that was forked has the findings of its parent
            return
        self.finish()
        if self._options is None:
            return
        text = str(self.findings).encode("utf-8", "backslashreplace")
        while text:
            text = text[os.write(2, text) :]
        if notes.wanted():
            record_end()
        if self._options.json is not None:
            self._write_json(self._options.json)
        if self.findings and self._options.exit_code is not None:
            set_exit_code(self._options.exit_code)

    def _write_json(self, file: Path) -> None:
        try:
            write_json(file, self.findings)
        except OSError as error:
            print(f"acl-emu: {file}: {error.strerror}; the findings are not written", file=sys.stderr, flush=True)

    def _note(self, finding: Finding) -> None:
        if os.getpid() == self._process:
            record(finding)
