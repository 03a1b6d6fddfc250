"""Changing the exit code of a process that is ending."""

from __future__ import annotations

import ctypes
import sys

from acl_emu.core._bridge import lib


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
