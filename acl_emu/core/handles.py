"""Handles: the opaque pointers that a program holds, and the objects they stand for.

A handle is a number that is never given out twice and lies outside every address a process can have, so that a dead handle, a
foreign pointer and a handle of another kind are all told apart from a living one, and none can be dereferenced by accident.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from acl_emu.core import _door, observe
from acl_emu.core._bridge import lib

T = TypeVar("T")

# Bits 48 and up make the number a non-canonical address on x86-64 and an unmapped one on aarch64.
_BASE = 0x5AC1_0000_0000_0000
_STEP = 16

_END = _BASE + (1 << 48)
IN_C = _BASE + (1 << 47)
"""From here on numbers are given out in C, to objects that live there until Python is asked about them."""

_numbers = itertools.count(1)
alive: dict[int, Any] = {}
"""Objects by handle, but for those that still live in C."""
_moving = threading.Lock()

take_from_c: Callable[[int], dict[int, Any]] | None = None
"""Moves an object that lives in C to here, and those that it hangs together with."""
count_in_c: Callable[[], dict[str, int]] = dict
"""How many objects of each kind live in C."""


def issue(thing: object) -> int:
    """Give ``thing`` a new handle."""
    handle = _BASE + next(_numbers) * _STEP
    alive[handle] = thing
    if observe.watching is not None:
        observe.watching.tell("object_made", handle, thing)
    return handle


def find(handle: int | None, kind: type[T]) -> T | None:
    """The living object of this kind behind ``handle``, or None for a null, dead, foreign or swapped one."""
    thing = alive.get(handle) if handle else None
    if thing is None and handle and IN_C <= handle < _END:
        thing = _moved_from_c(handle)
    return thing if isinstance(thing, kind) else None


def _moved_from_c(handle: int) -> Any:
    with _moving:  # who comes second finds it here
        if handle not in alive and take_from_c is not None:
            alive.update(take_from_c(handle))
        return alive.get(handle)


def recall() -> None:
    """A tensor has changed: executors that live in C come here, where it is looked at, and C forgets what it knows of others."""
    _door.forget()
    lib.acl_emu_take_all_back()
    if lib.acl_emu_executor_count() and take_from_c is not None:
        with _moving:
            alive.update(take_from_c(0))


def retire(handle: int) -> None:
    """Make ``handle`` a dead one."""
    thing = alive.pop(handle, None)
    if thing is None and find(handle, object) is not None:
        thing = alive.pop(handle, None)
    if observe.watching is not None and thing is not None:
        observe.watching.tell("object_gone", handle, thing)


def describe(handle: int) -> str:
    """What a handle that was refused is, for messages."""
    thing = find(handle, object)
    if thing is not None:
        return f"{handle:#x} (a living {getattr(thing, 'c_name', type(thing).__name__)})"
    if _BASE < handle < _END:
        return f"{handle:#x} (a handle that was destroyed)"
    return f"{handle:#x} (not a handle of this library)"


def census() -> dict[str, int]:
    """How many handles of each kind are alive."""
    counts = count_in_c()
    for thing in list(alive.values()):
        name = getattr(thing, "c_name", type(thing).__name__)
        counts[name] = counts.get(name, 0) + 1
    return counts
