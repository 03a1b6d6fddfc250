"""Functions of an ELF file: enough to say which one an address is in."""

from __future__ import annotations

import struct
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

_SYMTAB, _DYNSYM = 2, 11
_FUNCTION = 2
_EXECUTABLE = 2


class Function(NamedTuple):
    """One function: where it is, and its name as the linker knows it."""

    first: int
    size: int
    name: str


class Image(NamedTuple):
    """What a file says about itself."""

    movable: bool
    """Whether it may be loaded anywhere; addresses in it count from where it was loaded."""
    functions: list[Function]

    def find(self, address: int) -> Function | None:
        """The function that an address is in."""
        index = bisect_right(self.functions, (address, 1 << 62)) - 1
        if index < 0:
            return None
        found = self.functions[index]
        return found if address < found.first + max(1, found.size) else None


@lru_cache(maxsize=None)
def read(path: str) -> Image | None:
    """The functions in a file's symbol table; None where it cannot be read or is not 64-bit little-endian ELF."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    try:
        return Image(struct.unpack_from("<H", data, 16)[0] != _EXECUTABLE, _functions(data))
    except (struct.error, ValueError, IndexError):
        return None


def _functions(data: bytes) -> list[Function]:
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    for wanted in (_SYMTAB, _DYNSYM):
        for section in sections:
            if section[1] == wanted:
                return _symbols(data, section, sections[section[6]])
    return []


def _symbols(data: bytes, table: tuple[int, ...], names: tuple[int, ...]) -> list[Function]:
    found = []
    for position in range(table[4], table[4] + table[5], 24):
        name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", data, position)
        if info & 15 == _FUNCTION and section:
            begin = names[4] + name
            found.append(Function(value, size, data[begin : data.index(b"\0", begin)].decode("utf-8", "replace")))
    return sorted(found)
