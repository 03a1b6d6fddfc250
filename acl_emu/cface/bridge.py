"""From C calls to Python calls and back.

Every exported function arrives here with its number and its packed arguments. The handler of a function is made at its first call, from
the C prototype and the Python signature: a C parameter that Python lacks is the length of the array before it, or an out-parameter.
"""

from __future__ import annotations

import inspect
import os
import struct
import threading
from collections.abc import Callable, Container
from typing import Any

import aclnnop
from acl_emu.api.border import FUNCTIONS, HANDLE_TYPES, STATUS_TYPES, STRUCTURES, VARIADIC, ApiFunction, CParameter
from acl_emu.cface import last_calls
from acl_emu.cface.arguments import Arguments, array_reader, element_of, lists_reader, plain_reader, read, write
from acl_emu.core import constants as c
from acl_emu.core import documented, ending, observe
from acl_emu.core._bridge import ffi, lib
from acl_emu.core.documented import PHASE_ONE
from acl_emu.core.errors import AclError, AclnnInner, AclnnInvalid, AclnnNullptr, InvalidParam, NullParam, report
from acl_emu.spec.operator import Operator
from acl_emu.spec.single_phase import SinglePhase
from aclnnop.registry import SINGLE_PHASES

Handler = Callable[[Arguments, Any], None]
"""Carries a call out and sets the result."""

_names: list[str] = []
_handlers: dict[int, Handler] = {}

_OBJECTS = ("tensor", "scalar", "int_array", "float_array", "bool_array", "tensor_list", "scalar_list")
_QUICK = {
    **{f"aclCreate{name.title().replace('_', '')}": f"acl_emu_create_{name}" for name in _OBJECTS},
    **{f"aclDestroy{name.title().replace('_', '')}": f"acl_emu_destroy_{name}" for name in _OBJECTS},
    "aclDestroyAclOpExecutor": "acl_emu_destroy_executor",
    "aclrtMalloc": "acl_emu_malloc",
    "aclrtFree": "acl_emu_free",
    "aclrtMemcpy": "acl_emu_memcpy",
    "aclrtSynchronizeStream": "acl_emu_synchronize",
}
"""What C carries out by itself where it can. Operators join them at their first call."""
_NEED_A_CONTEXT = ("aclrtMalloc", "aclrtMemcpy", "aclrtSynchronizeStream")
"""Python says whether there is one."""
_quick: Any = None
_kept: list[Any] = []
"""What libraries hold pointers to."""


def attach(side: int, names: int, count: int) -> None:
    """Called by the library: learn the numbering of its functions, and connect it."""
    global _quick
    table = ffi.cast("char **", names)
    _names[:] = [ffi.string(table[i]).decode() for i in range(count)]
    _quick = ffi.new("acl_emu_quick[]", [ffi.addressof(lib, _QUICK[name]) if name in _QUICK else ffi.NULL for name in _names])
    _kept.append(_quick)
    connected = ffi.cast("acl_emu_side *", side)
    connected.quick = _quick
    connected.ended = ffi.addressof(lib, "acl_emu_ended")
    lib.acl_emu_python = ffi.addressof(lib, "acl_emu_call")
    lib.acl_emu_python_refuses = ffi.addressof(lib, "acl_emu_refused")
    connected.refusal = ffi.addressof(lib, "acl_emu_refusal_gate")
    connected.entry = ffi.addressof(lib, "acl_emu_gate")


@ending.when_finished
def _hand_over() -> None:
    """From now on C answers alone."""
    for function, name in enumerate(_names):
        if name not in _QUICK or name in _NEED_A_CONTEXT:
            _quick[function] = ffi.NULL
    if _names:
        last_calls.hand_over(_names)


@ffi.def_extern(error=1)  # type: ignore[untyped-decorator]
def acl_emu_call(function: int, arguments: Arguments, result: Any, caller: Any) -> int:
    """Every C call comes in here."""
    handler = _handlers.get(function)
    if handler is None:
        name = _names[function]
        try:
            handler = _handlers[function] = _make_handler(name)
        except Exception as error:
            report(AclnnInner(f"{name} does not load: {type(error).__name__}: {error}"), name)
            return 1
    _watched(handler, arguments, result, caller)
    return 0


@ffi.def_extern(error=1)  # type: ignore[untyped-decorator]
def acl_emu_refused(function: Any, result: Any, caller: Any) -> int:
    """So does every call of a function that is documented but not emulated. Its arguments are not looked at."""
    name = ffi.string(function).decode()

    def refuse(_arguments: Arguments, _result: Any) -> None:
        raise AclnnInner(documented.refusal(name), c.ACLNN_ERR_INNER_NULLPTR)

    _watched(_guarded(name, refuse, c.ACLNN_ERR_INNER), None, result, caller)
    return 0


def _watched(handler: Handler, arguments: Arguments, result: Any, caller: Any) -> None:
    """Carry a call out; whoever watches learns where the program called from."""
    if observe.watching is None:
        handler(arguments, result)
        return
    observe.entered_from_c(int(ffi.cast("uintptr_t", caller)))
    try:
        handler(arguments, result)
    finally:
        observe.entered_from_c(0)


def _make_handler(name: str) -> Handler:
    declared = FUNCTIONS.get(name)
    handler = _api_handler(declared) if declared is not None else _operator_handler(name)
    return _guarded(name, handler, _failed_result(declared))


def _guarded(name: str, handler: Handler, failed: int | None) -> Handler:
    """A handler that turns what is raised into a status."""

    def guarded(arguments: Arguments, result: Any) -> None:
        try:
            handler(arguments, result)
        except AclError as error:
            code = report(error, name) if observe.watching is None else _tell_refused(name, error)
            result.u = 0
            if failed is not None:
                result.i = code
        except Exception as error:
            report(AclnnInner(f"{name} stopped with {type(error).__name__}: {error}"), name)
            result.u = 0
            if failed is not None:
                result.i = failed

    return guarded


def _tell_refused(name: str, error: AclError) -> int:
    """A call that failed here, before it became a Python call."""
    assert observe.watching is not None
    status: int = observe.watching.call(name, (), (), lambda: report(error, name), status_last=True, refuse=report)
    return status


def _failed_result(declared: ApiFunction | None) -> int | None:
    """The status of a call that failed for no reason that has a code of its own; None where the result is no status."""
    return STATUS_TYPES.get("aclnnStatus" if declared is None else declared.prototype.result)


# Results out

_SIZES = {"size_t": "Q", "uint64_t": "Q", "int64_t": "q", "uint32_t": "I", "int32_t": "i", "float": "f"}
_OPTIONAL_OUTPUTS = frozenset({"refCount"})


class _Output:
    """One out-parameter."""

    def __init__(self, parameter: CParameter, index: int, null: type[AclError], wrong: type[AclError]) -> None:
        self.name = parameter.name
        self.index = index
        self.null = null
        self.wrong = wrong
        pointed = parameter.c_type.removesuffix("*").strip()
        self.array = {"int64_t*": "q", "uint64_t*": "Q"}.get(pointed, "")
        self.structure = STRUCTURES.get(pointed)
        is_pointer = pointed.endswith("*") or pointed in HANDLE_TYPES
        self.code = "Q" if is_pointer else _SIZES.get(pointed, "i")
        self.size = self.structure.size if self.structure else struct.calcsize(self.code)

    def check(self, arguments: Arguments) -> None:
        """Before the call: the program's variable must be there to be written, or what the call makes would be lost."""
        address = arguments[self.index].u
        if lib.acl_emu_on_stack(address, self.size):
            return
        if address:
            write(address, read(address, self.size, self.name, self.wrong), self.name, self.wrong)
        elif self.name not in _OPTIONAL_OUTPUTS:
            raise self.null(f"{self.name} must not be a null pointer")

    def set(self, arguments: Arguments, value: Any) -> None:
        """After the call."""
        address = arguments[self.index].u
        if not address:
            return
        if self.array:
            self._set_array(address, arguments[self.index + 1].u, value)
        elif self.structure:
            write(address, self.structure.pack(value), self.name, self.wrong)
        else:
            write(address, struct.pack(self.code, value or 0), self.name, self.wrong)

    def _set_array(self, address: int, count_address: int, values: list[int]) -> None:
        """Memory that the program releases with delete[], and its length."""
        block = lib.acl_emu_new_array(8 * max(1, len(values)))
        where = int(ffi.cast("uintptr_t", block))
        write(where, struct.pack(f"{len(values)}{self.array}", *values), self.name, self.wrong)
        write(address, struct.pack("Q", where), self.name, self.wrong)
        write(count_address, struct.pack("Q", len(values)), f"{self.name} count", self.wrong)


class _TextOutput(_Output):
    """A buffer for a text, which the function has found to be long enough."""

    def check(self, arguments: Arguments) -> None:
        """Before the call."""
        if not arguments[self.index].u:
            raise self.null(f"{self.name} must not be a null pointer")

    def set(self, arguments: Arguments, value: str) -> None:
        """After the call."""
        write(arguments[self.index].u, os.fsencode(value) + b"\0", self.name, self.wrong)


class _Texts(threading.local):
    """Strings that a program holds a pointer to, until its next call of the same function."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}


_texts = _Texts()


def _is_length(parameter: CParameter, inputs: Container[str]) -> bool:
    """Of the array before it; a number that is called numOutputs stands before its arrays."""
    return parameter.name not in inputs and not parameter.c_type.endswith("*") and not parameter.name.startswith("num")


def _api_handler(declared: ApiFunction) -> Handler:
    prototype = declared.prototype
    is_meta = prototype.header.startswith("aclnn/")
    null: type[AclError] = AclnnNullptr if is_meta else NullParam
    wrong: type[AclError] = AclnnInvalid if is_meta else InvalidParam
    inputs = set(declared.inputs)
    readers: list[Callable[[Arguments], Any]] = []
    outputs: list[_Output] = []
    previous: CParameter | None = None
    count_index = 0
    for index, parameter in enumerate(p for p in prototype.parameters if p.c_type != VARIADIC):
        following = prototype.parameters[index + 1] if index + 1 < len(prototype.parameters) else None
        if parameter.name in inputs and element_of(parameter):
            has_length = following is not None and _is_length(following, inputs)
            if has_length:
                count_index = index + 1
            # Strides have no length of their own: they have that of the dimensions.
            if parameter.c_type.count("*") == 2 and "int64_t" in parameter.c_type:
                readers.append(lists_reader(parameter, index, count_index))
            else:
                refuses_null = prototype.name == "aclCreateTensor" and has_length  # others take null dimensions or values for none
                readers.append(array_reader(parameter, index, count_index, is_meta, refuses_null))
        elif parameter.name in inputs:
            readers.append(plain_reader(parameter.c_type, parameter.name, index))
        elif not parameter.c_type.endswith("*"):
            count_index = index
        elif parameter.c_type == "char*":
            outputs.append(_TextOutput(parameter, index, null, wrong))
        elif parameter.c_type.startswith("const ") and parameter.c_type.count("*") == 1:  # lengths of the arrays that follow
            pass
        elif not (previous is not None and previous.c_type == "int64_t**"):
            outputs.append(_Output(parameter, index, null, wrong))
        elif parameter.c_type == "uint64_t*":
            outputs.append(_CountOutput(parameter, index, null, wrong))
        previous = parameter
    python = declared.python
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in inspect.signature(python).parameters.values()):
        return _refusal_handler(python)
    if prototype.result not in STATUS_TYPES:
        return _value_handler(declared, readers)
    if not outputs:
        return _status_handler(python, readers)
    values_expected = sum(1 for output in outputs if not isinstance(output, _CountOutput))
    returns_status_alone = not values_expected

    def handle(arguments: Arguments, result: Any) -> None:
        for output in outputs:
            output.check(arguments)
        answer = python(*[reader(arguments) for reader in readers])
        if returns_status_alone:
            result.i = answer
            return
        *values, status = answer
        if status == c.ACL_SUCCESS:
            for output, value in zip((o for o in outputs if not isinstance(o, _CountOutput)), values, strict=True):
                output.set(arguments, value)
        result.i = status

    return handle


def _status_handler(python: Callable[..., int], readers: list[Callable[[Arguments], Any]]) -> Handler:
    """A function whose status is all that it gives."""

    def handle(arguments: Arguments, result: Any) -> None:
        result.i = python(*[reader(arguments) for reader in readers])

    return handle


def _refusal_handler(python: Callable[..., int]) -> Handler:
    """A function that is not emulated looks at nothing that it is given."""

    def handle(_arguments: Arguments, result: Any) -> None:
        result.i = python()

    return handle


class _CountOutput(_Output):
    """The length of an array that is an out-parameter: checked here, written together with it."""


def _value_handler(declared: ApiFunction, readers: list[Callable[[Arguments], Any]]) -> Handler:
    name, result_type, python = declared.prototype.name, declared.prototype.result, declared.python

    def handle(arguments: Arguments, result: Any) -> None:
        value = python(*[reader(arguments) for reader in readers])
        if isinstance(value, str):
            text = _texts.kept[name] = ffi.new("char[]", os.fsencode(value))
            result.p = text
        elif result_type == "float":
            result.d = value
        elif (value or 0) < 0:
            result.i = value
        else:
            result.u = value or 0

    return handle


# Operators


def _operator_handler(name: str) -> Handler:
    if name in SINGLE_PHASES:
        return _single_phase_handler(aclnnop.find_single_phase(name))
    operator = aclnnop.find(name)
    return _phase_one_handler(operator) if name.endswith(PHASE_ONE) else _phase_two_handler(operator)


def _single_phase_handler(function: SinglePhase) -> Handler:
    readers = [plain_reader(kind.c_type, name, index) for index, (name, kind) in enumerate(function.parameters)]
    outputs = [
        _Output(CParameter(f"{result.c_type}*", result.name), index, AclnnNullptr, AclnnInvalid)
        for index, result in enumerate(function.results, len(readers))
    ]

    def handle(arguments: Arguments, result: Any) -> None:
        for output in outputs:
            output.check(arguments)
        *values, status = function.call(*[reader(arguments) for reader in readers])
        if status == c.ACLNN_SUCCESS:
            for output, value in zip(outputs, values, strict=True):
                output.set(arguments, value)
        result.i = status

    return handle


def _phase_one_handler(operator: Operator) -> Handler:
    readers = [plain_reader(kind.c_type, name, index) for index, (name, kind) in enumerate(operator.parameters)]
    count = len(readers)
    size_output = _Output(CParameter("uint64_t*", "workspaceSize"), count, AclnnNullptr, AclnnInvalid)
    executor_output = _Output(CParameter("aclOpExecutor**", "executor"), count + 1, AclnnNullptr, AclnnInvalid)
    _connect(operator)

    def handle(arguments: Arguments, result: Any) -> None:
        size_output.check(arguments)
        executor_output.check(arguments)
        size, executor, status = operator.get_workspace_size(*[reader(arguments) for reader in readers])
        if status == c.ACLNN_SUCCESS:
            size_output.set(arguments, size)
            executor_output.set(arguments, executor)
        result.i = status

    return handle


def _connect(operator: Operator) -> None:
    """From now on C carries out the calls that it has seen before."""
    one, two = _names.index(operator.name + PHASE_ONE), _names.index(operator.name)
    lib.acl_emu_connect_operator(one, two, operator.number)
    _quick[one] = ffi.addressof(lib, "acl_emu_phase_one")
    _quick[two] = ffi.addressof(lib, "acl_emu_phase_two")


def _phase_two_handler(operator: Operator) -> Handler:
    in_order = struct.Struct("QQQQ")

    def handle(arguments: Arguments, result: Any) -> None:
        workspace, size, executor, stream = in_order.unpack(ffi.buffer(arguments, in_order.size))
        result.i = operator.run(workspace or None, size, executor or None, stream or None)

    return handle
