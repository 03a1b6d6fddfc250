"""Findings: what was found, where, and one line of advice for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from acl_emu.core.observe import Call, Place, current_call, here
from acl_emu.tools.checker.places import Frameworks


class Origin(NamedTuple):
    """The call that did something, and where it stands in the program."""

    call: str
    place: Place


def origin_of(call: Call | None) -> Origin:
    """The origin of what a call does; of what happens now where there is none."""
    return Origin(call.name, call.place) if call is not None else Origin("", here())


def origin_now() -> Origin:
    """The origin of what the calling thread does."""
    return origin_of(current_call())


class Kind(NamedTuple):
    """A kind of finding."""

    title: str
    advice: str


KINDS: dict[str, Kind] = {
    "out-of-bounds": Kind(
        "memory outside an allocation", "compute sizes from the tensor's own shape and data type, and allocate as much as is copied"
    ),
    "uninitialized-read": Kind(
        "memory that was never written is read", "copy to it, fill it with aclrtMemset or let an operator write it first"
    ),
    "use-after-free": Kind(
        "memory that was freed is used", "free memory after the last call that uses it, and the synchronize that waits for it"
    ),
    "double-free": Kind("memory is freed twice", "set the pointer to null when it is freed, and free it in one place"),
    "bad-free": Kind(
        "what is freed is not the start of an allocation",
        "pass the pointer that aclrtMalloc (or aclrtMallocHost) gave, to its own free function",
    ),
    "host-pointer": Kind(
        "a host pointer where a device pointer belongs", "allocate with aclrtMalloc and copy the data there with aclrtMemcpy"
    ),
    "device-pointer": Kind(
        "a device pointer where a host pointer belongs", "name the copy by what its pointers are, or exchange dst and src"
    ),
    "workspace-missing": Kind("phase two gets no workspace", "allocate workspaceSize bytes of phase one with aclrtMalloc and pass them"),
    "workspace-too-small": Kind(
        "the workspace is smaller than planned", "allocate the workspaceSize that phase one of this very executor returned"
    ),
    "workspace-freed": Kind("a workspace is freed before the work that uses it has run", "synchronize the stream before aclrtFree"),
    "workspace-shared": Kind(
        "a workspace is used by two streams at once", "give each stream its own workspace, or order the streams with an event"
    ),
    "overlap": Kind(
        "an output overlaps an input of the same call",
        "give the output its own memory; only the same tensor may be both, element by element",
    ),
    "peer-access": Kind(
        "memory of another device is used without access to it",
        "call aclrtDeviceEnablePeerAccess for the other device first, with the device that uses the memory as the current one",
    ),
    "race": Kind(
        "two accesses to the same memory are not ordered",
        "synchronize the stream, or record an event on one stream and let the other wait for it",
    ),
    "freed-in-use": Kind("memory is freed before the work that uses it has run", "synchronize the stream before the memory is freed"),
    "bad-index": Kind(
        "an index is out of range, and counts for nothing",
        "give it a value within the range, or the one that is to be ignored; other operators fail on such a value",
    ),
    "repeated-index": Kind(
        "several values are written to one place", "give every index once; which of the values stays is not defined on a device"
    ),
    "executor-reused": Kind(
        "an executor is used twice", "call phase one again for every run, or aclSetAclOpExecutorRepeatable before the first"
    ),
    "executor-unused": Kind("an executor is never run", "run phase two with it, or release it with aclDestroyAclOpExecutor"),
    "executor-leaked": Kind("a repeatable executor is never destroyed", "call aclDestroyAclOpExecutor after its last run"),
    "use-after-destroy": Kind("an object that was destroyed is used", "destroy objects after their last use, and once"),
    "object-leaked": Kind("an object is never destroyed", "destroy it before the program ends, in error paths, too"),
    "memory-leaked": Kind("memory is never freed", "free it before the program ends, in error paths, too"),
    "error-ignored": Kind(
        "a call failed and the program went on", "check the status of every call; aclGetRecentErrMsg tells what is wrong"
    ),
    "call-order": Kind("calls in the wrong order", "aclInit, aclrtSetDevice, work, aclrtResetDevice, aclFinalize"),
}
"""Every kind, in the order of the report."""
OF_THE_PROCESS = frozenset({"object-leaked", "memory-leaked", "call-order"})
"""What a framework does once for the process, and the program cannot change."""


@dataclass
class Finding:
    """One finding, however often it occurred."""

    kind: str
    origin: Origin
    parameter: str
    text: str
    related: tuple[tuple[str, Origin], ...] = ()
    """What else took part: its role in words, and where it happened."""
    count: int = 1

    @property
    def advice(self) -> str:
        """What to do about it."""
        return KINDS[self.kind].advice


@dataclass
class Findings:
    """All findings of a run; those of the same call, parameter and kind are one."""

    _by_key: dict[tuple[str, Origin, str], Finding] = field(default_factory=dict)
    on_new: Callable[[Finding], None] | None = None
    """Called with each one that is not known yet."""
    _frameworks: Frameworks = field(default_factory=Frameworks)

    def add(self, kind: str, origin: Origin, parameter: str, text: str, *related: tuple[str, Origin]) -> None:
        """Note one occurrence."""
        self.note(Finding(kind, origin, parameter, text, related))

    def note(self, finding: Finding) -> None:
        """Note one occurrence."""
        assert finding.kind in KINDS, finding.kind
        if finding.kind in OF_THE_PROCESS and self._frameworks.has(finding.origin.place):
            return
        key = (finding.kind, finding.origin, finding.parameter)
        known = self._by_key.get(key)
        if known is None:
            self._by_key[key] = finding
            if self.on_new is not None:
                self.on_new(finding)
        else:
            known.count += 1

    def __iter__(self) -> Iterator[Finding]:
        order = {kind: i for i, kind in enumerate(KINDS)}
        return iter(sorted(self._by_key.values(), key=lambda finding: order[finding.kind]))

    def __len__(self) -> int:
        return len(self._by_key)

    @property
    def kinds(self) -> list[str]:
        """The kind of each finding."""
        return [finding.kind for finding in self]

    def __str__(self) -> str:
        from acl_emu.tools.checker.report import report

        return report(self)
