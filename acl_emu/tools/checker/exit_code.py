"""Changing the exit code of a process that is ending."""

from __future__ import annotations

import ctypes


def set_exit_code(code: int) -> None:
    """End the process with this code once everything else that is due at its end is done.

    The C library runs what is registered last first and gives each function its argument, so that ``_exit`` itself can be registered.
    It would skip the flushing of C's files, which is therefore registered to come before it.
    """
    libc = ctypes.CDLL(None)

    def register(function: str, argument: int | None) -> None:
        libc.__cxa_atexit(ctypes.cast(getattr(libc, function), ctypes.c_void_p), ctypes.c_void_p(argument), None)

    register("_exit", code)
    register("fflush", None)
