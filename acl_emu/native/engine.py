"""The engine, as Python calls it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from acl_emu import memory, soc
from acl_emu.cshim._bridge import ffi

PATH = Path(__file__).resolve().parents[1] / "lib64" / "libacl_emu_engine.so"
DONE = 0
SETTLED, IN_DOUBLE, PLAIN_FLOAT = range(3)
"""How a kernel that was compiled as a whole is evaluated: see engine.h."""

_SHORT = 8192
"""Elements of a program that is through before another thread could have used the interpreter."""


class Entries(NamedTuple):
    """The functions of the engine; a short run keeps the interpreter's lock, a long one gives it away."""

    run_short: Any
    run_long: Any
    find_fused: Any


@lru_cache(maxsize=None)
def library() -> Entries | None:
    """The engine; None where it was switched off or not built."""
    if not soc.native() or not PATH.exists():
        return None
    holding, releasing = ctypes.PyDLL(str(PATH)), ctypes.CDLL(str(PATH))
    for entry in (holding.acl_emu_engine_run, releasing.acl_emu_engine_run):
        entry.restype = ctypes.c_int64
        entry.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    releasing.acl_emu_engine_set_regions(ctypes.byref(memory.REGION_TABLE))
    return Entries(holding.acl_emu_engine_run, releasing.acl_emu_engine_run, releasing.acl_emu_engine_find_fused)


def find_fused(signature: str, dtype: int, way: int) -> int:
    """The number of a kernel that was compiled as a whole; -1 where there is none."""
    entries = library()
    assert entries is not None
    return int(entries.find_fused(signature.encode(), ctypes.c_int64(dtype), ctypes.c_int64(way)))


class Program:
    """A compiled graph, ready to run on any addresses."""

    __slots__ = ("_array", "_numbers", "_on_host", "_run", "_threads", "signatures")

    def __init__(self, numbers: bytes, operands: int, elements: int, signatures: tuple[str, ...], *, on_host: bool = False) -> None:
        entries = library()
        assert entries is not None
        self.signatures = signatures
        """Of the graph, where it can be compiled as a whole."""
        self._numbers = numbers
        self._array = ctypes.c_int64 * operands
        self._on_host = int(on_host)
        self._run = entries.run_short if elements < _SHORT else entries.run_long
        self._threads = soc.threads()

    def describe(self, native: Any) -> None:
        """Tell C how to run it."""
        entries = library()
        assert entries is not None
        native.run = ffi.cast("void *", ctypes.cast(self._run, ctypes.c_void_p).value)
        native.program = ffi.cast("int64_t *", ctypes.cast(ctypes.c_char_p(self._numbers), ctypes.c_void_p).value)
        native.threads = self._threads
        native.is_short = self._run is entries.run_short

    def run(self, addresses: Sequence[int]) -> bool:
        """Compute; False where numpy has to, since operands overlap, do not lie in memory, or there is no room."""
        return bool(self._run(self._numbers, self._array(*addresses), self._on_host, self._threads) == DONE)
