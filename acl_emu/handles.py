"""Handles: the opaque pointers that a program holds, and the objects they stand for.

A handle is a number that is never given out twice and lies outside every address a process can have, so that a dead handle, a
foreign pointer and a handle of another kind are all told apart from a living one, and none can be dereferenced by accident.
"""

from __future__ import annotations

import itertools
from typing import Any, TypeVar

from acl_emu import observe

T = TypeVar("T")

# Bits 48 and up make the number a non-canonical address on x86-64 and an unmapped one on aarch64.
_BASE = 0x5AC1_0000_0000_0000
_STEP = 16

_numbers = itertools.count(1)
_alive: dict[int, Any] = {}


def issue(thing: object) -> int:
    """Give ``thing`` a new handle."""
    handle = _BASE + next(_numbers) * _STEP
    _alive[handle] = thing
    if observe.watching is not None:
        observe.watching.tell("object_made", handle, thing)
    return handle


def find(handle: int | None, kind: type[T]) -> T | None:
    """The living object of this kind behind ``handle``, or None for a null, dead, foreign or swapped one."""
    thing = _alive.get(handle) if handle else None
    return thing if isinstance(thing, kind) else None


def retire(handle: int) -> None:
    """Make ``handle`` a dead one."""
    thing = _alive.pop(handle, None)
    if observe.watching is not None and thing is not None:
        observe.watching.tell("object_gone", handle, thing)


def describe(handle: int) -> str:
    """What a handle that was refused is, for messages."""
    thing = _alive.get(handle)
    if thing is not None:
        return f"{handle:#x} (a living {getattr(thing, 'c_name', type(thing).__name__)})"
    if _BASE < handle < _BASE + (1 << 48):
        return f"{handle:#x} (a handle that was destroyed)"
    return f"{handle:#x} (not a handle of this library)"


def census() -> dict[str, int]:
    """How many handles of each kind are alive."""
    counts: dict[str, int] = {}
    for thing in list(_alive.values()):
        name = getattr(thing, "c_name", type(thing).__name__)
        counts[name] = counts.get(name, 0) + 1
    return counts
