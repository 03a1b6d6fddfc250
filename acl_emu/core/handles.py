"""Handles: the opaque pointers that a program holds, and the objects they stand for.

A handle is a number that is never given out twice and lies outside every address a process can have, so that a dead handle, a
foreign pointer and a handle of another kind are all told apart from a living one, and none can be dereferenced by accident.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

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


class Handle(int):
    """A handle as Python programs hold it: a number whose repr says what it stands for. Every kind of object has a class of its own.

    A plain number that equals it is as good.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        thing = find(self, object)
        about = "(destroyed)" if thing is None else getattr(thing, "about", "")
        return f"<{type(self).__name__}{about and ' '}{about} at {int(self):#x}>"

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)  # another process has no such object


class aclTensor(Handle):
    """The handle of an aclTensor."""

    __slots__ = ()


class aclScalar(Handle):
    """The handle of an aclScalar."""

    __slots__ = ()


class aclIntArray(Handle):
    """The handle of an aclIntArray."""

    __slots__ = ()


class aclFloatArray(Handle):
    """The handle of an aclFloatArray."""

    __slots__ = ()


class aclBoolArray(Handle):
    """The handle of an aclBoolArray."""

    __slots__ = ()


class aclTensorList(Handle):
    """The handle of an aclTensorList."""

    __slots__ = ()


class aclScalarList(Handle):
    """The handle of an aclScalarList."""

    __slots__ = ()


class aclOpExecutor(Handle):
    """The handle of an aclOpExecutor."""

    __slots__ = ()


class aclrtStream(Handle):
    """The handle of an aclrtStream."""

    __slots__ = ()


class aclrtEvent(Handle):
    """The handle of an aclrtEvent."""

    __slots__ = ()


class aclrtContext(Handle):
    """The handle of an aclrtContext."""

    __slots__ = ()


CLASSES = {kind.__name__: kind for kind in Handle.__subclasses__()}
"""By the name of the C type."""
for _kind in CLASSES.values():
    _kind.__module__ = "acl_emu"  # where programs find it
_door.use_handles(Handle, aclOpExecutor)


def issue(thing: object) -> Handle:
    """Give ``thing`` a new handle."""
    handle = CLASSES.get(getattr(thing, "c_name", ""), Handle)(_BASE + next(_numbers) * _STEP)
    alive[handle] = thing
    if observe.watching is not None:
        observe.watching.tell("object_made", handle, thing)
    return handle


def check_type(name: str, value: object, expected: str = "a handle") -> None:
    """A TypeError for what can be no handle or address: a tuple that was not unpacked, an array."""
    if value is not None and not isinstance(value, (int, np.integer)):
        hint = "; unpack the results of the call it comes from" if isinstance(value, tuple) else ""
        raise TypeError(f"{name} must be {expected} or None, got {_short(value)}{hint}")


def _short(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


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
