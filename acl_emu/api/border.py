"""The border between raising and status codes: every acl function is declared here with its official C prototype.

Python form: C name, C argument order, out-parameters returned instead of passed, status last. An array and its length are one sequence.
The C face is derived from the same two things, the prototype and the Python signature: a C parameter that the Python function lacks is
an out-parameter, or the length of an array: of the one before it, or of those behind it where none stands before.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import inspect
import re
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast, overload

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core import handles, observe
from acl_emu.core.errors import AclError, NotEmulated, report

P = ParamSpec("P")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

Handle = int | None
"""An opaque handle; None is the null pointer."""

DevicePointer = int | None
"""An address in device memory; None is the null pointer."""

HostAddress = int | None
"""An address of page-locked host memory; None is the null pointer."""

HostPointer = Any
"""Host memory: any buffer (numpy array, bytearray), an integer address, or None."""


VARIADIC = "..."


class CParameter(NamedTuple):
    """One parameter of a C prototype."""

    c_type: str
    name: str


class Prototype(NamedTuple):
    """An official C prototype."""

    result: str
    name: str
    parameters: tuple[CParameter, ...]
    header: str
    text: str


_PROTOTYPE = re.compile(r"(?P<result>.+?)\s*\b(?P<name>\w+)\s*\((?P<parameters>.*)\)", re.DOTALL)
_PARAMETER = re.compile(r"(?P<type>.+?)\s*\b(?P<name>\w+)", re.DOTALL)


@lru_cache(maxsize=None)
def parse_prototype(text: str, header: str) -> Prototype:
    """A prototype in one line of C."""
    match = _PROTOTYPE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a prototype: {text}")
    parameters = []
    for part in match["parameters"].split(","):
        if part.strip() == VARIADIC:
            parameters.append(CParameter(VARIADIC, ""))
        elif part.strip() not in ("", "void"):
            piece = _PARAMETER.fullmatch(part.strip())
            if piece is None:
                raise ValueError(f"not a parameter: {part!r} in {text}")
            parameters.append(CParameter(" ".join(piece["type"].split()), piece["name"]))
    return Prototype(match["result"].strip(), match["name"], tuple(parameters), header, text)


class Structure(NamedTuple):
    """A C structure that goes by pointer: its layout, as struct spells it, and what it is in Python."""

    layout: str
    python: Callable[..., Any]

    @property
    def size(self) -> int:
        """Its bytes."""
        return struct.calcsize(self.layout)

    def pack(self, value: Any) -> bytes:
        """As it lies in memory."""
        fields = dataclasses.astuple(value)
        return struct.pack(self.layout, *(field.encode() if isinstance(field, str) else field for field in fields))

    def unpack(self, data: bytes) -> Any:
        """What lies in memory."""
        return self.python(*struct.unpack(self.layout, data))


STRUCTURES: dict[str, Structure] = {}
"""By C name."""

N = TypeVar("N", bound=type[Any])


def structure(c_name: str, layout: str) -> Callable[[N], N]:
    """Declare how a data class lies in memory, field after field."""

    def declare(python: N) -> N:
        STRUCTURES[c_name] = Structure(layout, python)
        return python

    return declare


class ApiFunction(NamedTuple):
    """An acl function: its prototype and its implementation."""

    prototype: Prototype
    python: Callable[..., Any]
    """What Python programs call: returns the out-parameters, then the status."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the Python parameters."""
        return tuple(inspect.signature(self.python).parameters)

    @property
    def outputs(self) -> tuple[CParameter, ...]:
        """C parameters that Python gets as results."""
        taken = set(self.inputs)
        return tuple(p for p in self.prototype.parameters if p.name not in taken and p.c_type.endswith("*") and "const" not in p.c_type)

    @property
    def results(self) -> tuple[CParameter, ...]:
        """The outputs as Python counts them: an array and its length are one."""
        outputs = self.outputs
        return tuple(p for i, p in enumerate(outputs) if i == 0 or outputs[i - 1].c_type != "int64_t**")


FUNCTIONS: dict[str, ApiFunction] = {}
"""Every declared acl function, by name."""

STATUS_TYPES = {"aclError": c.ACL_ERROR_INTERNAL_ERROR, "aclnnStatus": c.ACLNN_ERR_INNER, "rtError_t": c.ACL_ERROR_RT_INTERNAL_ERROR}
"""Results that are status codes, and that of a call which failed for no reason that has a code of its own."""


def _null_of(parameter: CParameter) -> Any:
    """What a failed call returns for an out-parameter."""
    pointed = parameter.c_type.removesuffix("*").strip()
    if pointed == "int64_t*":
        return []
    if pointed == "char":
        return ""
    return None if pointed.endswith("*") or pointed in HANDLE_TYPES else 0


HANDLE_TYPES = frozenset(
    {"aclrtStream", "aclrtEvent", "aclrtContext", "aclmdlRI", "aclrtDrvMemHandle", "aclrtBinHandle", "aclrtFuncHandle", "rtStream_t"}
)


class acl:
    """Declare an acl function whose result is a status code: ``@acl(header, prototype)``.

    ``quick`` is asked first: whether it has carried the call out, successfully. It stands aside while somebody watches.
    """

    def __init__(self, header: str, prototype: str, *, quick: Callable[..., bool] | None = None) -> None:
        self.header = header
        self.text = prototype
        self.quick = quick

    @overload
    def __call__(self, function: Callable[P, None]) -> Callable[P, int]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, tuple[A, B, C]]) -> Callable[P, tuple[A, B, C, int]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, tuple[A, B]]) -> Callable[P, tuple[A, B, int]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, A]) -> Callable[P, tuple[A, int]]: ...
    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Turn results into out-parameters and exceptions into status codes."""

        def refuse(error: AclError) -> Any:
            code = report(error, function.__name__)
            return (*map(_null_of, results), code) if results else code

        def carry_out(*arguments: Any, **named: Any) -> Any:
            try:
                result = function(*arguments, **named)
            except AclError as error:
                _check_pointers(pointers, arguments, named)
                return refuse(error)
            except (TypeError, ValueError):
                _check_pointers(pointers, arguments, named)
                raise
            if not results:
                return c.ACL_SUCCESS
            return (*result, c.ACL_SUCCESS) if isinstance(result, tuple) else (result, c.ACL_SUCCESS)

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            if observe.watching is None:
                return carry_out(*arguments, **named)
            return _watched(function, carry_out, refuse, arguments, named, status_last=True)

        quick = self.quick
        pointers = _pointers_of(function)

        @functools.wraps(function)
        def quick_call(*arguments: Any, **named: Any) -> Any:
            return c.ACL_SUCCESS if quick is not None and quick(*arguments) else call(*arguments, **named)

        declared = call if quick is None else quick_call
        results = _declare(self.text, self.header, declared).results  # a null pointer is a result, too
        names = (*(parameter.name for parameter in results), "status")
        _document(declared, self.text, names, _with_status(function.__annotations__["return"]))
        return declared


class plain:
    """Declare an acl function whose result is not a status code: it is returned alone, and is null on failure."""

    def __init__(self, header: str, prototype: str) -> None:
        self.header = header
        self.text = prototype

    def __call__(self, function: Callable[P, A]) -> Callable[P, A | None]:
        """Turn exceptions into a null result."""

        def refuse(error: AclError) -> Any:
            code = report(error, function.__name__)
            return code if returns_status else None

        def carry_out(*arguments: Any, **named: Any) -> A | None:
            try:
                return function(*arguments, **named)
            except AclError as error:
                _check_pointers(pointers, arguments, named)
                return cast("A | None", refuse(error))
            except (TypeError, ValueError):
                _check_pointers(pointers, arguments, named)
                raise

        pointers = _pointers_of(function)

        @functools.wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> A | None:
            if observe.watching is None:
                return carry_out(*arguments, **named)
            answer: A | None = _watched(function, carry_out, refuse, arguments, named, status_last=False)
            return answer

        returns_status = _declare(self.text, self.header, call).prototype.result in STATUS_TYPES
        _document(call, self.text, (), function.__annotations__["return"])
        return call


Pointers = tuple[tuple[int, str, str], ...]
"""Parameters that are handles or addresses: their places and names, and what is expected there."""
_EXPECTED = {"Handle": "a handle", "DevicePointer": "an address", "HostAddress": "an address"}


def _pointers_of(function: Callable[..., Any]) -> Pointers:
    hints = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    return tuple((place, name, _EXPECTED[hint]) for place, (name, hint) in enumerate(hints.items()) if hint in _EXPECTED)


def _check_pointers(pointers: Pointers, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """A call failed: a TypeError where that is because of an argument that no C program could have passed."""
    for place, name, expected in pointers:
        handles.check_type(name, arguments[place] if place < len(arguments) else named.get(name), expected)


def _with_status(hint: str) -> str:
    """What a function with this result returns in Python."""
    if hint == "None":
        return "int"
    return f"{hint[:-1]}, int]" if hint.startswith("tuple[") else f"tuple[{hint}, int]"


def _document(call: Callable[..., Any], prototype: str, names: tuple[str, ...], hint: str) -> None:
    """What help() shows: the results that Python gets, and the C prototype."""
    results = f"({', '.join(names)})" if len(names) > 1 else f"the {''.join(names)}"
    answer = f"Returns {results}.\n" if names else ""
    call.__doc__ = f"{inspect.cleandoc(call.__doc__ or '')}\n\n{answer}C: {prototype}"
    call.__signature__ = inspect.signature(call).replace(return_annotation=hint)  # type: ignore[attr-defined]


@lru_cache(maxsize=None)
def _parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _watched(
    function: Callable[..., Any],
    carry_out: Callable[..., Any],
    refuse: Callable[[AclError], Any],
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    *,
    status_last: bool,
) -> Any:
    """The same call, told to whoever watches."""
    names = _parameters_of(function)
    if named or len(arguments) != len(names):
        bound = inspect.signature(function).bind(*arguments, **named)
        names, values = tuple(bound.arguments), bound.args
    else:
        values = arguments
    assert observe.watching is not None
    return observe.watching.call(
        function.__name__,
        names,
        values,
        lambda: carry_out(*arguments, **named),
        status_last=status_last,
        refuse=refuse,
    )


def _declare(text: str, header: str, call: Callable[..., Any]) -> ApiFunction:
    prototype = parse_prototype(text, header)
    declared = FUNCTIONS[prototype.name] = ApiFunction(prototype, call)
    return declared


def also_named(name: str, function: Callable[P, A]) -> Callable[P, A]:
    """Declare the same function under a second official name."""
    original = FUNCTIONS[function.__name__].prototype
    _declare(original.text.replace(original.name, name), original.header, function)
    return function


def not_emulated(header: str, prototype: str) -> Callable[..., int]:
    """Declare a function that returns an error which says that it is not emulated yet."""
    name = parse_prototype(prototype, header).name

    def refuse() -> int:
        return report(NotEmulated(f"{name} is not emulated yet"), name)

    def call(*arguments: Any) -> int:
        if observe.watching is None:
            return refuse()
        status: int = observe.watching.call(name, (), arguments, refuse, status_last=True, refuse=report)
        return status

    call.__name__ = name
    call.__doc__ = "Not emulated yet: returns 207000."
    _declare(prototype, header, call)
    return call


# Arguments


def host_address(pointer: HostPointer, name: str) -> int:
    """The address of a host (or device) pointer; 0 for null."""
    if pointer is None:
        return 0
    if isinstance(pointer, int):
        return pointer
    if isinstance(pointer, np.ndarray):
        if not pointer.flags.c_contiguous:
            raise TypeError(f"{name} must be a contiguous array, got one of shape {pointer.shape} and strides {pointer.strides}")
        return int(pointer.ctypes.data)
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(pointer))
    except (TypeError, ValueError):  # read-only, or empty
        pass
    try:
        return int(np.frombuffer(pointer, np.uint8).ctypes.data)
    except (TypeError, ValueError, BufferError):
        raise TypeError(f"{name} must be a buffer, an integer address or None, got {type(pointer).__name__}") from None


def check_buffer(pointer: HostPointer, name: str, size: int, *, written: bool = False) -> None:
    """A buffer, unlike an address, knows its size and whether it may be written: a copy must not spoil Python's own memory."""
    if pointer is None or isinstance(pointer, int):
        return
    if isinstance(pointer, np.ndarray):  # some element types have no memoryview
        held, read_only = pointer.nbytes, not pointer.flags.writeable
    else:
        view = memoryview(pointer)
        held, read_only = view.nbytes, view.readonly
    if held < size:
        raise ValueError(f"{name} must hold {size} bytes, got a buffer of {held}")
    if written and read_only:
        raise ValueError(f"{name} must be writable, got a read-only {type(pointer).__name__}")


def values_of(sequence: Sequence[Any] | None) -> tuple[Any, ...]:
    """A C array as a tuple; null is empty."""
    return () if sequence is None else tuple(sequence)
