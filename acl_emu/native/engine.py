"""The engine, as Python calls it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from acl_emu import memory, threads

LIBRARY = "libacl_emu_engine.so"
DONE = 0

_SHORT = 8192
"""Elements of a program that is through before another thread could have used the interpreter."""

Addresses = Any
"""A C array of 64-bit numbers."""


@lru_cache(maxsize=None)
def library() -> tuple[Any, Any] | None:
    """The engine's entry, called with and without the interpreter's lock; None where it was switched off or not built."""
    path = Path(__file__).resolve().parents[1] / "lib64" / LIBRARY
    if os.environ.get("ACL_EMU_NATIVE") == "0" or not path.exists():
        return None
    entries = []
    for kind in (ctypes.PyDLL, ctypes.CDLL):
        entry = kind(str(path)).acl_emu_engine_run
        entry.restype = ctypes.c_int64
        entry.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        entries.append(entry)
    ctypes.CDLL(str(path)).acl_emu_engine_set_regions(ctypes.byref(memory.REGION_TABLE))
    return entries[0], entries[1]


class Program:
    """A compiled graph, ready to run on any addresses."""

    __slots__ = ("_array", "_numbers", "_on_host", "_run", "_threads")

    def __init__(self, numbers: bytes, operands: int, elements: int, *, on_host: bool = False) -> None:
        entries = library()
        assert entries is not None
        self._numbers = numbers
        self._array = ctypes.c_int64 * operands
        self._on_host = int(on_host)
        self._run = entries[0] if elements < _SHORT else entries[1]
        self._threads = threads.allowed()

    def run(self, addresses: Sequence[int]) -> bool:
        """Compute; False where numpy has to, since operands overlap, do not lie in memory, or there is no room."""
        return bool(self._run(self._numbers, self._array(*addresses), self._on_host, self._threads) == DONE)
