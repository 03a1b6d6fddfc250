"""Places of a program in words: ``main (program.cpp:12)``, ``main+0x1f in program``, ``program.py:12``."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence

from acl_emu.core.observe import Place
from acl_emu.tools.checker import elf

Mapped = Sequence[tuple[int, int, str]]
"""Files in an address space: first address, past the last, path."""


class Places:
    """Looks places up, those of one file in one go; only what is printed costs anything."""

    def __init__(self, places: Iterable[Place], mapped: Mapped | None = None) -> None:
        """``mapped`` where they are of another process, which may have ended: what ``mapped_files`` said in it."""
        self._texts: dict[int, str] = {}
        addresses = sorted({place.address for place in places if place.address and not place.file})
        if addresses:
            self._resolve(addresses, mapped_files() if mapped is None else mapped)

    def text(self, place: Place) -> str:
        """A place in words."""
        if place.address and not place.file:
            return self._texts.get(place.address, f"{place.address:#x}")
        return f"{_short(place.file)}:{place.line}" if place.file else "?"

    def _resolve(self, addresses: list[int], mapped: Mapped) -> None:
        by_file: dict[tuple[str, int], list[int]] = {}
        for address in addresses:
            for first, last, path in mapped:
                if first <= address < last:
                    by_file.setdefault((path, min(f for f, _, p in mapped if p == path)), []).append(address)
                    break
        for (path, start), inside in by_file.items():
            image = elf.read(path)
            if image is None:
                continue
            # A return address is behind the call, which may be in the next line.
            offsets = [address - 1 - (start if image.movable else 0) for address in inside]
            lines = _ask_addr2line(path, offsets)
            for address, offset, (name, line) in zip(inside, offsets, lines, strict=True):
                function = image.find(offset)
                name = name or (_demangled(function.name) if function else "")
                if line:
                    self._texts[address] = f"{name} ({line})" if name else line
                else:
                    where = f"{name}+{offset + 1 - function.first:#x}" if function else f"{offset + 1:#x}"
                    self._texts[address] = f"{where} in {os.path.basename(path)}"


def mapped_files() -> Mapped:
    """The files in the address space of this process: first address, past the last, path."""
    found = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            parts = line.rstrip("\n").split(maxsplit=5)
            if len(parts) == 6 and parts[5].startswith("/"):
                first, last = (int(number, 16) for number in parts[0].split("-"))
                found.append((first, last, parts[5]))
    return found


class Frameworks:
    """Tells whether a call comes from a framework, which keeps what it makes until the process ends."""

    NAMES = ("libtorch_npu.so",)

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def has(self, place: Place) -> bool:
        """Whether a place is in one of them."""
        address = place.address
        if not address:
            return False
        if address not in self._known:
            path = next((path for first, last, path in mapped_files() if first <= address < last), "")
            self._known[address] = os.path.basename(path) in self.NAMES
        return self._known[address]


def _ask_addr2line(path: str, offsets: list[int]) -> list[tuple[str, str]]:
    """Function and file:line of each offset; empty texts where unknown."""
    unknown = [("", "")] * len(offsets)
    # That of GNU names the wrong file for a header that comes first (binutils before 2.41, DWARF 5): others are asked before it.
    command = next(filter(None, map(shutil.which, ("llvm-addr2line", "eu-addr2line", "addr2line"))), None)
    if command is None:
        return unknown
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    try:
        done = subprocess.run(
            [command, "-f", "-C", "-e", path, *(f"{offset:#x}" for offset in offsets)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return unknown
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if len(lines) != 2 * len(offsets):
        return unknown
    return [(_without_arguments(lines[i]), _line(lines[i + 1])) for i in range(0, len(lines), 2)]


def _line(text: str) -> str:
    file, _, number = text.partition(" (")[0].rpartition(":")
    return f"{_short(file)}:{number}" if file not in ("", "??") and number.isdigit() and number != "0" else ""


def _short(file: str) -> str:
    """Relative to where the program runs, where it is there; the name alone where the file is not to be found."""
    if not os.path.exists(file):
        return os.path.basename(file)
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


_OPEN, _CLOSE = "(<{[", ")>}]"


def _without_arguments(name: str) -> str:
    """``int f<short>(char const*) const`` as ``f<short>``; empty for an unknown one."""
    if name == "??":
        return ""
    text = name.removesuffix(" const")
    if text.endswith(")") and not text.endswith("operator()"):
        depth = 0
        for position in range(len(text) - 1, -1, -1):
            depth += (text[position] == ")") - (text[position] == "(")
            if depth == 0:
                text = text[:position]
                break
    depth, begin = 0, 0
    for position, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == " " and depth == 0 and "operator" not in text[:position]:
            begin = position + 1
    return text[begin:] or name


def _demangled(name: str) -> str:
    """The C++ name; a program in C++ brings what is needed to tell."""
    try:
        demangle = ctypes.CDLL(None).__cxa_demangle
    except (AttributeError, OSError):
        return name
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    found = ctypes.string_at(text).decode("utf-8", "replace")
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(text)
    return _without_arguments(found)
