"""acl/acl_op_compiler.h: operators of the older interface, named by a text and described when they are called; compile options.

An operator runs here as those of the two-phase interface that do the same (``older_operators``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import aclnnop
from acl_emu.api import acl_meta
from acl_emu.api.acl_base import find_description
from acl_emu.api.acl_base_rt import find_buffer
from acl_emu.api.acl_op import Attributes, find_attributes
from acl_emu.api.border import Handle, acl, plain
from acl_emu.api.older_operators import ROUTES, Argument, Given, Scratch, Tensor, Unsupported, View, row_major
from acl_emu.core import constants as c
from acl_emu.core import dtypes, soc
from acl_emu.core.errors import AclError, InvalidParam, NullParam
from acl_emu.runtime import context, memory
from acl_emu.runtime.callbacks import Task
from acl_emu.runtime.stream import Stream
from acl_emu.spec import Operator

HEADER = "acl/acl_op_compiler.h"


class OperatorNotFound(AclError):
    """No operator of this name, or none for such tensors."""

    code = c.ACL_ERROR_OP_NOT_FOUND
    tag, title = "EZ3003", "Operator_Not_Found"


# Options

_OPTIONS = range(c.ACL_PRECISION_MODE, c.ACL_OP_DEBUG_OPTION + 1)
_options = {c.ACL_OP_JIT_COMPILE: "disable"}
"""Nothing is compiled when an operator is called."""


def _check_option(opt: int) -> None:
    if opt not in _OPTIONS:
        raise InvalidParam(f"opt is {opt}, expected a value in [{_OPTIONS.start}, {_OPTIONS.stop - 1}]")


@acl(HEADER, "aclError aclSetCompileopt(aclCompileOpt opt, const char* value)")
def aclSetCompileopt(opt: int, value: str | None) -> None:
    """Remember an option. None of them changes a result here."""
    _check_option(opt)
    if value is None:
        raise NullParam("value must not be a null pointer")
    _options[opt] = value


@plain(HEADER, "size_t aclGetCompileoptSize(aclCompileOpt opt)")
def aclGetCompileoptSize(opt: int) -> int:
    """The length of an option's value, its end included; 0 of one that does not exist."""
    _check_option(opt)
    return len(_options.get(opt, "").encode()) + 1


@acl(HEADER, "aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length)")
def aclGetCompileopt(opt: int, length: int) -> str:
    """The value of an option; empty where it was never set."""
    _check_option(opt)
    value = _options.get(opt, "")
    if length < len(value.encode()) + 1:
        raise InvalidParam(f"length is {length}, expected at least {len(value.encode()) + 1}")
    return value


# Operators

_CALL = (
    "const char* opType, int numInputs, const aclTensorDesc* const* inputDesc, const aclDataBuffer* const* inputs, "
    "int numOutputs, const aclTensorDesc* const* outputDesc, aclDataBuffer* const* outputs, const aclopAttr* attr, "
    "aclopEngineType engineType, aclopCompileType compileFlag, const char* opPath, aclrtStream stream"
)


@acl(HEADER, f"aclError aclopCompileAndExecute({_CALL})")
def aclopCompileAndExecute(
    opType: str | None,
    inputDesc: Sequence[Handle] | None,
    inputs: Sequence[Handle] | None,
    outputDesc: Sequence[Handle] | None,
    outputs: Sequence[Handle] | None,
    attr: Handle,
    engineType: int,
    compileFlag: int,
    opPath: str | None,
    stream: Handle,
) -> None:
    """Run an operator on a stream."""
    _execute(opType, inputDesc, inputs, outputDesc, outputs, attr, stream)


@acl(
    HEADER,
    "aclError aclopCompileAndExecuteV2("
    + _CALL.replace("const aclTensorDesc* const*", "aclTensorDesc**")
    .replace("const aclDataBuffer* const*", "aclDataBuffer**")
    .replace("aclDataBuffer* const*", "aclDataBuffer**")
    .replace("const aclopAttr*", "aclopAttr*")
    + ")",
)
def aclopCompileAndExecuteV2(
    opType: str | None,
    inputDesc: Sequence[Handle] | None,
    inputs: Sequence[Handle] | None,
    outputDesc: Sequence[Handle] | None,
    outputs: Sequence[Handle] | None,
    attr: Handle,
    engineType: int,
    compileFlag: int,
    opPath: str | None,
    stream: Handle,
) -> None:
    """The same. Descriptions of outputs stay as they are: no operator that is known here decides about a shape when it runs."""
    _execute(opType, inputDesc, inputs, outputDesc, outputs, attr, stream)


def _execute(
    name: str | None,
    input_descriptions: Sequence[Handle] | None,
    inputs: Sequence[Handle] | None,
    output_descriptions: Sequence[Handle] | None,
    outputs: Sequence[Handle] | None,
    attr: Handle,
    stream: Handle,
) -> None:
    if name is None:
        raise NullParam("opType must not be a null pointer")
    route = ROUTES.get(name)
    if route is None:  # before anything else: what is wrong with the rest may come from how such an operator is called
        raise OperatorNotFound(f"operator {name} of the older interface is not emulated; emulated are {', '.join(sorted(ROUTES))}")
    taken = _given(input_descriptions, inputs, "inputDesc", "inputs")
    made = _given(output_descriptions, outputs, "outputDesc", "outputs")
    attributes = find_attributes(attr) if attr else Attributes()
    context.find_stream(stream)
    try:
        calls = route(taken, made, attributes)
    except Unsupported as error:
        raise OperatorNotFound(f"operator {name} is not emulated for this call: {error}") from None
    except (LookupError, ValueError, memory.BadAddress) as error:
        raise OperatorNotFound(f"operator {name} does not take {len(taken)} inputs and {len(made)} outputs like these: {error}") from None
    with _Call(context.find_stream(stream)) as call:
        for operator, arguments in calls:
            call.run(name, aclnnop.find(operator), arguments, stream)


def _given(descriptions: Sequence[Handle] | None, buffers: Sequence[Handle] | None, first: str, second: str) -> list[Given]:
    if descriptions is None or buffers is None:
        return []
    if len(descriptions) != len(buffers):
        raise InvalidParam(f"{first} has {len(descriptions)} members, {second} has {len(buffers)}, expected as many")
    return [
        Given(find_description(one, f"{first}[{i}]"), find_buffer(other, f"{second}[{i}]"))
        for i, (one, other) in enumerate(zip(descriptions, buffers, strict=True))
    ]


class _Call:
    """The calls that an operator is made of, with memory that is there as long as their work needs it."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.region = context.current().device.memory
        self.scratch: dict[Scratch, int] = {}
        self.allocated: list[int] = []

    def __enter__(self) -> _Call:
        return self

    def __exit__(self, *_: object) -> None:
        if self.allocated:
            _free_later(self.stream, lambda: [self.region.free(address) for address in self.allocated])

    def _allocate(self, size: int) -> int:
        self.allocated.append(self.region.allocate(size, soc.current().padding, c.ACL_MEM_MALLOC_HUGE_FIRST))
        return self.allocated[-1]

    def _address(self, tensor: Given | Scratch) -> int | None:
        if isinstance(tensor, Given):
            return tensor.buffer.address or None
        if tensor not in self.scratch:
            self.scratch[tensor] = self._allocate(max(1, math.prod(tensor.shape)) * dtypes.data_type_size(tensor.dtype))
        return self.scratch[tensor]

    def _tensor(self, argument: Tensor) -> Handle:
        view = argument if isinstance(argument, View) else View(argument, argument.shape, row_major(argument.shape))
        base = view.of
        format = base.description.format if argument is base and isinstance(base, Given) else c.ACL_FORMAT_ND
        return acl_meta.aclCreateTensor(view.shape, base.dtype, view.strides, view.offset, format, base.shape, self._address(base))

    def _handle(self, argument: Argument, stack: ExitStack) -> Any:
        """An argument as the two-phase interface takes it, for as long as the call."""
        if argument is None or isinstance(argument, (int, float)):
            return argument
        if isinstance(argument, (Given, Scratch, View)):
            made = self._tensor(argument)
            stack.callback(acl_meta.aclDestroyTensor, made)
        elif tensors := [one for one in argument if not isinstance(one, int)]:
            made = acl_meta.aclCreateTensorList([self._tensor(one) for one in tensors])
            stack.callback(acl_meta.aclDestroyTensorList, made)
        else:
            made = acl_meta.aclCreateIntArray([one for one in argument if isinstance(one, int)])
            stack.callback(acl_meta.aclDestroyIntArray, made)
        return made

    def run(self, name: str, declared: Operator, arguments: Sequence[Argument], stream: Handle) -> None:
        """Both phases of one of them."""
        with ExitStack() as stack:
            size, executor, status = declared.get_workspace_size(*(self._handle(argument, stack) for argument in arguments))
            workspace = self._allocate(size) if status == c.ACLNN_SUCCESS and size else None
            status = status or declared.run(workspace, size, executor, stream)
        if status != c.ACLNN_SUCCESS:
            raise OperatorNotFound(f"operator {name} failed with {status}, run as {declared.name}")


def _free_later(stream: Stream, free: Task) -> None:
    """When the work is done; what is captured needs it as long as the model lives."""
    if stream.capture is not None:
        stream.capture.owned.append(free)
    else:
        stream.submit(free)
