"""Arguments, results and status codes in words, as the trace, the report and the log show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from acl_emu.core import constants, dtypes, formats, handles
from acl_emu.runtime.executor import Executor
from acl_emu.runtime.stream import Stream
from acl_emu.runtime.tensor import Array, HandleList, Scalar, Tensor, View, contiguous_strides

_LONGEST = 160
_SMALLEST_ADDRESS = 1 << 32
"""Numbers from here on are addresses: no count or index of a program is so large."""


def dtype(code: int) -> str:
    """FLOAT for ACL_FLOAT."""
    return dtypes.dtype_name(code).removeprefix("ACL_")


def view(of: View) -> str:
    """Shape and data type, and what is unusual about the layout."""
    text = f"[{', '.join(map(str, of.shape))}] {dtype(of.dtype_code)}"
    if of.strides != contiguous_strides(of.shape):
        text += f" strides [{', '.join(map(str, of.strides))}]"
    if of.offset:
        text += f" from element {of.offset}"
    return text


def handle(number: int) -> str:
    """A handle that no living object has any more."""
    return f"#{handles.short(number)}"


def argument(value: Any, parameter: str = "") -> str:
    """One argument, or one result."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return _number(int(value), parameter)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str):
        return f'"{_short(value)}"'
    if isinstance(value, np.ndarray):
        return f"host array {list(value.shape)} {value.dtype}"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{len(value)} bytes of host memory"
    if isinstance(value, Sequence):
        return _short(f"[{', '.join(argument(item) for item in value[:32])}{', …' if len(value) > 32 else ''}]")
    if isinstance(value, Callable):  # type: ignore[arg-type]
        name = str(getattr(value, "__name__", "<"))
        return "a function" if name.startswith("<") else name
    return _short(repr(value))


def _number(value: int, parameter: str) -> str:
    if value >= _SMALLEST_ADDRESS:
        thing = handles.find(value, object)
        return hex(value) if thing is None else living(value, thing)
    prefix = _ENUMERATIONS.get(parameter)
    if prefix == "dtype":
        return dtypes.dtype_name(value)
    if prefix == "format":
        return formats.format_name(value)
    return _names(prefix).get(value, str(value)) if prefix else str(value)


def living(number: int, thing: object) -> str:
    """An object that a handle stands for."""
    name = f"{getattr(thing, 'c_name', type(thing).__name__)}{handle(number)}"
    if isinstance(thing, Tensor):
        return f"{name} {view(thing.view)}"
    if isinstance(thing, Array):
        return f"{name} {_short(repr(thing))}"
    if isinstance(thing, (Scalar, HandleList, Executor)):
        return f"{name} {thing.about}"
    if isinstance(thing, Stream):
        return f"stream {thing.number}"
    return name


_ENUMERATIONS = {"kind": "ACL_MEMCPY_", "policy": "ACL_MEM_MALLOC_", "dataType": "dtype", "format": "format"}


@lru_cache(maxsize=None)
def _names(prefix: str) -> dict[int, str]:
    return {value: name for name, value in vars(constants).items() if name.startswith(prefix)}


@lru_cache(maxsize=None)
def _status_names() -> dict[int, str]:
    known: dict[int, str] = {}
    for name, value in vars(constants).items():
        if name.startswith(("ACL_ERROR_", "ACLNN_ERR_")):
            known.setdefault(value, name)
    known[0] = "success"
    return known


def status(code: int) -> str:
    """The official name of a status code."""
    return _status_names().get(code, "unknown code")


def size(count: int) -> str:
    """Bytes, as people say them."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}" if count % factor else f"{count // factor} {unit}"
    return f"{count} byte{'' if count == 1 else 's'}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
