"""From C arguments to Python ones.

Pointers of the program are read and written through the operating system, which answers for a bad one instead of stopping the process.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from typing import Any

from acl_emu.api.border import HANDLE_TYPES, STRUCTURES, CParameter, Structure
from acl_emu.core._bridge import ffi, lib
from acl_emu.core.errors import AclError, AclnnInvalid, AclnnNullptr, InvalidParam

Arguments = Any
"""A cdata array of acl_emu_arg."""

_allocate = ffi.new_allocator(should_clear_after_alloc=False)
"""A count that promises more than there is costs nothing: the copy fails before the memory is touched."""
_MOST_VALUES = 1 << 24
"""More than any array of the interface holds: a larger count is not one."""


def read(address: int, size: int, name: str, error: type[AclError] = InvalidParam) -> bytes:
    """Bytes of the program's memory."""
    found = _allocate("char[]", size)
    if size and not lib.acl_emu_copy(int(ffi.cast("uintptr_t", found)), address, size):
        raise error(f"{name} is {address:#x}, where {size} bytes cannot be read")
    return bytes(ffi.buffer(found, size))


def write(address: int, data: bytes, name: str, error: type[AclError]) -> None:
    """Put bytes into the program's memory."""
    source = ffi.from_buffer(data)
    if not lib.acl_emu_copy(address, int(ffi.cast("uintptr_t", source)), len(data)):
        raise error(f"{name} is {address:#x}, where {len(data)} bytes cannot be written")


def _read_string(address: int, name: str) -> str | None:
    if not address:
        return None
    text = b""
    while b"\0" not in text:
        # up to the end of the page: a string may end right before memory that does not exist
        text += read(address + len(text), 4096 - (address + len(text)) % 4096, name)
        if len(text) > 1 << 20:
            raise InvalidParam(f"{name} is {address:#x}, where no string ends")
    return os.fsdecode(text.partition(b"\0")[0])


_ELEMENTS = {
    "int64_t": "q",
    "int32_t": "i",
    "uint32_t": "I",
    "int": "i",
    "uint8_t": "B",
    "float": "f",
    "bool": "?",
    **dict.fromkeys(("aclTensor*", "aclScalar*", "aclTensorDesc*", "aclDataBuffer*", "int64_t*"), "Q"),
}


def element_of(parameter: CParameter) -> str | None:
    """How an element of an array is spelled for struct; None where the parameter is no array."""
    plain = parameter.c_type.replace("const", "").replace(" ", "")
    return _ELEMENTS.get(plain[:-1]) if plain.endswith("*") else None


def array_reader(parameter: CParameter, index: int, count_index: int, is_meta: bool, refuses_null: bool) -> Callable[[Arguments], Any]:
    """An array and its length become a tuple."""
    code = element_of(parameter)
    assert code is not None
    size = struct.calcsize(code)
    wrong = AclnnInvalid if is_meta else InvalidParam

    def take(arguments: Arguments) -> tuple[Any, ...] | None:
        address, count = arguments[index].u, arguments[count_index].u
        if not address:
            if count and refuses_null:
                raise AclnnNullptr(f"{parameter.name} must not be a null pointer when {parameter.name}Num is {count}")
            return None
        if count > _MOST_VALUES:
            raise wrong(f"{parameter.name} has {count} values, expected at most {_MOST_VALUES}")
        return struct.unpack(f"{count}{code}", read(address, count * size, parameter.name, wrong))

    return take


def lists_reader(parameter: CParameter, index: int, count_index: int) -> Callable[[Arguments], Any]:
    """An array of arrays of int64_t; the lengths are an array of int before it."""
    addresses = array_reader(parameter, index, count_index, False, False)
    lengths = array_reader(CParameter("const int*", f"lengths of {parameter.name}"), index - 1, count_index, False, False)

    def take(arguments: Arguments) -> tuple[tuple[int, ...], ...] | None:
        where, counts = addresses(arguments), lengths(arguments)
        if not where or counts is None:
            return None if where is None or counts is None else ()
        if any(not 0 <= count <= _MOST_VALUES for count in counts):
            raise InvalidParam(f"{parameter.name} has lists of {list(counts)} values, expected from 0 to {_MOST_VALUES}")
        return tuple(
            struct.unpack(f"{count}q", read(address, 8 * count, parameter.name)) for address, count in zip(where, counts, strict=True)
        )

    return take


def _structure_reader(kind: Structure, name: str, index: int) -> Callable[[Arguments], Any]:
    def take(arguments: Arguments) -> Any:
        address = arguments[index].u
        return kind.unpack(read(address, kind.size, name)) if address else None

    return take


def _callable_at(address: int) -> Callable[[Any], None] | None:
    if not address:
        return None
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            span, access = line.split(maxsplit=2)[:2]
            first, last = (int(text, 16) for text in span.split("-"))
            if "x" in access and first <= address < last:
                return lambda argument: lib.acl_emu_callback(address, argument or 0)
    raise InvalidParam(f"fn is {address:#x}, which is not code")


def plain_reader(c_type: str, name: str, index: int) -> Callable[[Arguments], Any]:
    """How one C argument becomes a Python one."""
    plain = c_type.replace("const ", "").strip()
    if plain == "char*":
        return lambda arguments: _read_string(arguments[index].u, name)
    if plain.endswith("*") and plain[:-1] in STRUCTURES:
        return _structure_reader(STRUCTURES[plain[:-1]], name, index)
    if plain in ("aclrtCallback", "aclrtHostFunc"):
        return lambda arguments: _callable_at(arguments[index].u)
    if plain.endswith("*") or plain in HANDLE_TYPES:
        return lambda arguments: arguments[index].u or None
    if plain == "bool":
        return lambda arguments: arguments[index].u & 0xFF != 0
    if plain in ("float", "double"):
        return lambda arguments: arguments[index].d
    if plain in ("size_t", "uint64_t", "uint32_t", "uint16_t", "uint8_t", "aclFloat16"):
        return lambda arguments: arguments[index].u
    return lambda arguments: arguments[index].i
