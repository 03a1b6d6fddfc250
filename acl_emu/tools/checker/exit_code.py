"""The exit code of a process that is ending: learning and changing it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

from acl_emu.core._bridge import lib

_UNKNOWN = -1
_UNBUFFERED = 2


def watch_exit_code() -> Callable[[], int | None]:
    """A function that says, once the process is ending, with what exit code; None before, and where the C library does not tell.

    The C library gives functions that are registered for it the code and an argument. One of its own that takes them puts the code into
    memory: no code of Python can be run then, in a child that was forked least of all.
    """
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    memory = libc.malloc(ctypes.c_size_t(ctypes.sizeof(ctypes.c_int)))  # not Python's, which may be gone when it is written
    if not memory:
        return lambda: None
    code = ctypes.c_int.from_address(memory)
    code.value = _UNKNOWN
    try:
        libc.fmemopen.restype = ctypes.c_void_p
        file = libc.fmemopen(ctypes.c_void_p(memory), ctypes.c_size_t(ctypes.sizeof(code)), b"r+")
        if file:
            libc.setvbuf(ctypes.c_void_p(file), None, _UNBUFFERED, ctypes.c_size_t(0))
            libc.on_exit(ctypes.cast(libc.putw, ctypes.c_void_p), ctypes.c_void_p(file))
    except AttributeError:
        pass
    return lambda: None if code.value == _UNKNOWN else code.value


def set_exit_code(code: int) -> None:
    """End the process with this code once everything else that is due at its end is done.

    The C library runs what is registered last first and gives each function its argument, so that ``_exit`` itself can be registered.
    It would skip the flushing of C's files, which is therefore registered to come before it. A Python process does so later: what C runs at
    exit is still to come.
    """
    if sys.is_finalizing():
        lib.acl_emu_exit_with(code)
        return
    libc = ctypes.CDLL(None)

    def register(function: str, argument: int | None) -> None:
        libc.__cxa_atexit(ctypes.cast(getattr(libc, function), ctypes.c_void_p), ctypes.c_void_p(argument), None)

    register("_exit", code)
    register("fflush", None)
