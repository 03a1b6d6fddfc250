"""Rules of objects: use after they were destroyed, executors that are run twice or never, what is left at the end."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from acl_emu.core.observe import Call, current_call
from acl_emu.runtime.context import Context
from acl_emu.runtime.executor import Executor
from acl_emu.runtime.stream import Stream
from acl_emu.tools.checker.findings import Finding, Findings, Origin, origin_now, origin_of

PHASE_TWO = ("workspace", "workspaceSize", "executor", "stream")
_DEAD_KEPT = 4096


class _Life(NamedTuple):
    kind: str
    born: Origin
    died: Origin
    call: int
    """The number of the call that it died in."""


class ObjectRules:
    """What is known of objects, and what is wrong with their use."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._alive: dict[int, tuple[object, Origin]] = {}
        self._dead: OrderedDict[int, _Life] = OrderedDict()
        self._run: set[int] = set()
        """Living executors that phase two was called with."""

    def made(self, handle: int, thing: object) -> None:
        """A handle was issued."""
        self._alive[handle] = (thing, origin_now())

    def gone(self, handle: int) -> None:
        """A handle was retired."""
        known = self._alive.pop(handle, None)
        self._run.discard(handle)
        if known is not None:
            thing, born = known
            died = origin_now()
            call = current_call()
            self._dead[handle] = _Life(_name(thing), born, died, call.number if call else 0)
            if isinstance(thing, Stream) and died.call == "aclrtResetDevice" and not _is_of_the_library(thing):
                text = f"the {_name(thing)} made here is never destroyed"
                self.findings.add("object-leaked", born, "", text, ("alive when the device was reset by aclrtResetDevice", died))
            if len(self._dead) > _DEAD_KEPT:
                self._dead.popitem(last=False)

    def executor(self, handle: int) -> Executor | None:
        """The living executor with this handle."""
        thing = self._alive.get(handle, (None,))[0]
        return thing if isinstance(thing, Executor) else None

    def runs(self, call: Call) -> None:
        """Phase two succeeded."""
        handle = call.arguments[2]
        if handle in self._alive:
            self._run.add(handle)

    def works_in_place(self, handle: int) -> bool:
        """Whether an executor's operator may write the very tensor that it reads: not where it works in blocks."""
        executor = self.executor(handle)
        return executor is None or not executor.plan.in_blocks

    def explain(self, call: Call) -> list[Finding]:
        """Why a call was refused, where a dead object is to blame."""
        found = []
        for parameter, value in zip(call.parameters, call.arguments, strict=False):
            life = self._dead.get(value) if isinstance(value, int) else None
            if life is not None and life.call != call.number:  # a phase two that fails for another reason ends its executor too
                reused = life.kind == Executor.c_name and life.died.call == call.name
                kind = "executor-reused" if reused else "use-after-destroy"
                text = f"{parameter} is {value:#x}, an {life.kind} that {'has been run' if reused else 'was destroyed'}"
                ended = "run by" if reused else "destroyed by"
                related = ((f"made by {life.born.call}", life.born), (f"{ended} {life.died.call}", life.died))
                found.append(Finding(kind, origin_of(call), parameter, text, related))
        return found

    def report_leaks(self) -> None:
        """The program ends: what was never destroyed."""
        for handle, (thing, born) in self._alive.items():
            if isinstance(thing, Executor):
                self._report_executor(handle, thing, born)
            elif not _is_of_the_library(thing):
                self.findings.add("object-leaked", born, "", f"the {_name(thing)} made here is never destroyed")

    def _report_executor(self, handle: int, executor: Executor, born: Origin) -> None:
        if handle not in self._run:
            self.findings.add("executor-unused", born, "executor", f"the executor made here is never given to {executor.operator}")
        elif executor.repeatable:
            self.findings.add("executor-leaked", born, "executor", "the executor made here was made repeatable, and is never destroyed")


def _name(thing: object) -> str:
    return str(getattr(thing, "c_name", type(thing).__name__))


def _is_of_the_library(thing: object) -> bool:
    """Primary contexts belong to their device, default streams to their context."""
    if isinstance(thing, Context):
        return thing.primary
    return isinstance(thing, Stream) and getattr(thing.context, "default_stream", thing) is thing
