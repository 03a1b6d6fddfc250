"""The engine, as Python calls it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from acl_emu.core import soc
from acl_emu.core._bridge import ffi
from acl_emu.engine.lower import Tables
from acl_emu.engine.program import Layout, layout_numbers
from acl_emu.runtime import memory

PATH = Path(__file__).resolve().parents[1] / "lib64" / "libacl_emu_engine.so"
DONE = 0
_NEST_WORDS, _VIEW_WORDS = 12, 40
"""Of a nest and of each of its operands, in engine_program.h."""
_SHORT = 8192
"""Elements of a nest that is through before another thread could have used the interpreter."""


class Runs(NamedTuple):
    """Running a program: a short run keeps the interpreter's lock, a long one gives it away."""

    short: Any
    long: Any


class Entries(NamedTuple):
    """The functions of the engine: nests on device memory and on any other; how one is made; and what steps there are."""

    on_device: Runs
    on_host: Runs
    nest: Any
    tables: Tables


@lru_cache(maxsize=None)
def library() -> Entries | None:
    """The engine; None where it was switched off or not built."""
    return load(PATH) if soc.native() and PATH.exists() else None


def load(path: Path) -> Entries:
    """An engine, ready to be used."""
    holding, releasing = ctypes.PyDLL(str(path)), ctypes.CDLL(str(path))
    on_device, on_host = (
        Runs(*(getattr(one, name) for one in (holding, releasing))) for name in ("acl_emu_engine_run", "acl_emu_engine_run_on_host")
    )
    for entry in (*on_device, *on_host):
        entry.restype = ctypes.c_int64
        entry.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
    releasing.acl_emu_engine_set_regions(ctypes.byref(memory.REGION_TABLE))
    nest = holding.acl_emu_engine_nest
    nest.restype = ctypes.c_int64
    nest.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    tables = Tables(*(_names(getattr(holding, f"acl_emu_engine_{kind}_name")) for kind in ("step", "reduction")))
    return Entries(on_device, on_host, nest, tables)


def _names(name_of: Any) -> dict[str, int]:
    name_of.restype = ctypes.c_char_p
    name_of.argtypes = (ctypes.c_int64,)
    found: dict[str, int] = {}
    while (name := name_of(len(found))) is not None:
        found[name.decode()] = len(found)
    return found


def address_of(entry: Any) -> int:
    """Where a function of the library lies."""
    return ctypes.cast(entry, ctypes.c_void_p).value or 0


def address_in(numbers: bytes) -> int:
    """Where numbers lie that C reads; they stay there as long as they live."""
    return ctypes.cast(ctypes.c_char_p(numbers), ctypes.c_void_p).value or 0


def nest_of(program: bytes, layouts: Sequence[Layout]) -> bytes | None:
    """The loop nest of a program for operands that lie like these; None where the engine has no way to run it."""
    entries = library()
    assert entries is not None
    words = len(program) // 8 + _NEST_WORDS + len(layouts) * _VIEW_WORDS
    numbers = (ctypes.c_int64 * words)()
    size = entries.nest(program, layout_numbers(layouts), soc.threads(), numbers, words)
    return bytes(numbers)[: size * 8] if size else None


class Nest:
    """A program and its loops, ready to run on any addresses."""

    __slots__ = ("_array", "_is_short", "_run", "_threads", "numbers")

    def __init__(self, numbers: bytes, operands: int, elements: int, *, on_host: bool = False) -> None:
        entries = library()
        assert entries is not None
        self.numbers = numbers
        """As the engine reads it."""
        self._array = ctypes.c_int64 * operands
        self._is_short = elements < _SHORT
        runs = entries.on_host if on_host else entries.on_device
        self._run = runs.short if self._is_short else runs.long
        self._threads = soc.threads()

    @property
    def function(self) -> int:
        """The address of what runs it."""
        return address_of(self._run)

    def describe(self, native: Any) -> None:
        """Tell C how to run it."""
        describe(native, self.function, self.numbers, self._threads, is_short=self._is_short)

    def run(self, addresses: Sequence[int]) -> bool:
        """Compute; False where numpy has to, since operands overlap, do not lie in memory, or memory is short."""
        return bool(self._run(self.numbers, self._array(*addresses), self._threads) == DONE)


def describe(native: Any, function: int, numbers: bytes, threads: int, *, is_short: bool) -> None:
    """Tell C how to run a kernel: a function, and what it has to know."""
    native.run = ffi.cast("void *", function)
    native.program = ffi.cast("int64_t *", address_in(numbers))
    native.threads = threads
    native.is_short = is_short


def tell_operands(native: Any, places: Sequence[int], offsets: Sequence[int]) -> bool:
    """Tell C which of a call's tensors a kernel works on (-1: the workspace), and where in each; False where there are too many."""
    if len(places) > len(native.places):
        return False
    native.operands = len(places)
    native.places[0 : len(places)] = places
    native.offsets[0 : len(places)] = offsets
    return True
