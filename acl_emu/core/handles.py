"""Handles: the opaque pointers that a program holds, and the objects they stand for.

A handle is a number that is never given out twice and lies outside every address a process can have, so that a dead handle, a
foreign pointer and a handle of another kind are all told apart from a living one, and none can be dereferenced by accident.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from acl_emu.core import _fast, observe
from acl_emu.core._bridge import lib

T = TypeVar("T")

# Bits 48 and up make the number a non-canonical address on x86-64 and an unmapped one on aarch64.
_BASE = 0x5AC1_0000_0000_0000
_STEP = 16

_END = _BASE + (1 << 48)
IN_C = _BASE + (1 << 47)
"""From here on numbers are given out in C, to the objects that live there."""

_SLOT_BITS = 22
"""Of a number that C gives out: see ``runtime/c/objects.c``."""

_numbers = itertools.count(1)
alive: dict[int, Any] = {}
"""Objects by handle, but for those that live in C."""


def _nothing(_handle: int) -> None:
    """What lives in C before there are objects."""


read: Callable[[int], Any] = _nothing
"""An object that lives in C, as it is now; None where it is not alive. Set by ``runtime.objects``, as the next."""
count: Callable[[], dict[str, int]] = dict
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
_fast.use_handles(Handle, aclOpExecutor)


def issue(thing: object) -> Handle:
    """Give ``thing`` a new handle."""
    number = _BASE + next(_numbers) * _STEP
    alive[number] = thing
    return made(number, thing)


def made(number: int, thing: object) -> Handle:
    """The handle of a new object; whoever watches is told of it."""
    handle = CLASSES.get(getattr(thing, "c_name", ""), Handle)(number)
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
        thing = read(handle)
    return thing if isinstance(thing, kind) else None


def retire(handle: int) -> None:
    """Make ``handle`` a dead one."""
    thing = alive.pop(handle, None)
    if observe.watching is not None and thing is not None:
        observe.watching.tell("object_gone", handle, thing)


def destroy(handle: int, kind: type[Any]) -> bool:
    """Destroy an object that lives in C, and with a list its members; False where it is not alive."""
    thing: Any = None if observe.watching is None else find(handle, kind)
    gone: dict[int, Any] = {handle: thing}
    if hasattr(thing, "members"):
        gone |= {member: find(member, thing.of) for member in thing.members}
    done = IN_C <= handle < _END and bool(lib.acl_emu_destroy(kind.number, handle))
    if done and observe.watching is not None:
        for number, one in gone.items():
            if one is not None:
                observe.watching.tell("object_gone", number, one)
    return done


def short(handle: int) -> str:
    """A number that people can read, and tell from others; of what lives in C the place, and how often that was used before."""
    if handle < IN_C:
        return str((handle - _BASE) // _STEP)
    uses, place = divmod((handle - IN_C) // _STEP, 1 << _SLOT_BITS)
    return f"{place + 1}.{uses}" if uses else str(place + 1)


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
    counts = count()
    for thing in list(alive.values()):
        name = getattr(thing, "c_name", type(thing).__name__)
        counts[name] = counts.get(name, 0) + 1
    return counts
