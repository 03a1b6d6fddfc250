"""acl/acl_op_compiler.h: operators of the older interface, named by a text and described when they are called; compile options.

An operator runs here as the one of the two-phase interface that does the same. Which one that is says ``ROUTES``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

import aclnnop
from acl_emu.api import acl_meta
from acl_emu.api.acl_base import TensorDesc, find_description
from acl_emu.api.acl_base_rt import DataBuffer, find_buffer
from acl_emu.api.acl_op import Attributes, find_attributes
from acl_emu.api.border import Handle, acl, plain
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


class Given(NamedTuple):
    """A tensor of a call: what it is like, and its memory."""

    description: TensorDesc
    buffer: DataBuffer

    def numbers(self) -> tuple[int, ...]:
        """The values of a small tensor of whole numbers, in the memory of the host or of the device."""
        dtype = dtypes.BY_CODE[self.description.dtype]
        values = np.empty(math.prod(self.description.shape), dtype.numpy)
        if values.nbytes > self.buffer.size:
            raise InvalidParam(f"a tensor of {values.nbytes} bytes has a buffer of {self.buffer.size}")
        memory.move(values.ctypes.data, self.buffer.address, values.nbytes)
        return tuple(map(int, values))


class First(NamedTuple):
    """What a tensor is like along all axes but one, counted from the end: all along that one it is the same."""

    given: Given
    axis: int


Argument = Given | First | Sequence[int] | int | float
"""A tensor, whole numbers in an array, or an attribute."""
Routed = tuple[str, tuple[Argument, ...]]
"""The operator of the two-phase interface, and its arguments."""
Route = Callable[[Sequence[Given], Sequence[Given], Attributes], Routed]
"""Of inputs, outputs and attributes."""


def _copy(inputs: Sequence[Given], outputs: Sequence[Given], _: Attributes) -> Routed:
    return "aclnnInplaceCopy", (outputs[0], inputs[0])


def _fill(operator: str) -> Route:
    return lambda _inputs, outputs, _attributes: (operator, (outputs[0],))


def _reduce(operator: str) -> Route:
    return lambda inputs, outputs, attributes: (
        operator,
        (inputs[0], inputs[1].numbers(), bool(attributes.get("keep_dims", False)), outputs[0]),
    )


def _elementwise(operator: str) -> Route:
    return lambda inputs, outputs, _attributes: (operator, (*inputs, outputs[0]))


def _cast(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    return "aclnnCast", (inputs[0], int(attributes.get("dst_type", outputs[0].description.dtype)), outputs[0])


def _distance_gradient(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    """All inputs come with the axes of both sets of points and of coordinates; a norm below 0 stands for infinity."""
    grad, first, second, distances = inputs
    if 0 in grad.description.shape:
        return "aclnnInplaceZero", (outputs[0],)
    views = (First(grad, -1), First(first, -2), First(second, -3), First(distances, -1))
    norm = float(attributes.get("p", 2.0))
    return "aclnnCdistBackward", (*views, norm if norm >= 0 else math.inf, outputs[0])


ROUTES: dict[str, Route] = {
    "CdistGrad": _distance_gradient,
    "Identity": _copy,
    "TensorMove": _copy,
    "ViewCopy": _copy,
    "Cast": _cast,
    "OnesLike": _fill("aclnnInplaceOne"),
    "ZerosLike": _fill("aclnnInplaceZero"),
    "ReduceMax": _reduce("aclnnAmax"),
    "ReduceMin": _reduce("aclnnAmin"),
    "Mul": _elementwise("aclnnMul"),
    "RealDiv": _elementwise("aclnnDiv"),
    **{
        name: _elementwise(f"aclnn{name}") for name in ("Abs", "Exp", "Log", "Maximum", "Minimum", "Neg", "Relu", "Sigmoid", "Sqrt", "Tanh")
    },
}

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
        operator, arguments = route(taken, made, attributes)
    except (LookupError, memory.BadAddress) as error:
        raise OperatorNotFound(f"operator {name} does not take {len(taken)} inputs and {len(made)} outputs like these: {error}") from None
    try:
        declared = aclnnop.find(operator)
    except AttributeError:
        raise OperatorNotFound(f"operator {name} is not emulated yet: it needs {operator}") from None
    with ExitStack() as stack:
        _launch(name, declared, [_handle(argument, stack) for argument in arguments], stream)


def _given(descriptions: Sequence[Handle] | None, buffers: Sequence[Handle] | None, first: str, second: str) -> list[Given]:
    if descriptions is None or buffers is None:
        return []
    if len(descriptions) != len(buffers):
        raise InvalidParam(f"{first} has {len(descriptions)} members, {second} has {len(buffers)}, expected as many")
    return [
        Given(find_description(one, f"{first}[{i}]"), find_buffer(other, f"{second}[{i}]"))
        for i, (one, other) in enumerate(zip(descriptions, buffers, strict=True))
    ]


def _handle(argument: Argument, stack: ExitStack) -> Any:
    """An argument as the two-phase interface takes it, for as long as the call."""
    if isinstance(argument, (Given, First)):
        given = argument.given if isinstance(argument, First) else argument
        shape, dtype, format = given.description.shape, given.description.dtype, given.description.format
        dims, strides = list(shape), [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        if isinstance(argument, First):
            del dims[argument.axis], strides[argument.axis]
        tensor = acl_meta.aclCreateTensor(dims, dtype, strides, 0, format, shape, given.buffer.address or None)
        stack.callback(acl_meta.aclDestroyTensor, tensor)
        return tensor
    if isinstance(argument, (int, float)):
        return argument
    array = acl_meta.aclCreateIntArray(argument)
    stack.callback(acl_meta.aclDestroyIntArray, array)
    return array


def _launch(name: str, declared: Operator, arguments: Sequence[Any], stream: Handle) -> None:
    """Both phases, with a workspace that is there as long as the work needs it."""
    workspace = None
    region = context.current().device.memory
    size, executor, status = declared.get_workspace_size(*arguments)
    try:
        if status == c.ACLNN_SUCCESS and size:
            workspace = region.allocate(size, soc.current().padding, c.ACL_MEM_MALLOC_HUGE_FIRST)
        status = status or declared.run(workspace, size, executor, stream)
        if status != c.ACLNN_SUCCESS:
            raise OperatorNotFound(f"operator {name} failed with {status}, run as {declared.name}")
    finally:
        if workspace is not None:
            _free_later(context.find_stream(stream), lambda: region.free(workspace))


def _free_later(stream: Stream, free: Task) -> None:
    """When the work is done; what is captured needs it as long as the model lives."""
    if stream.capture is not None:
        stream.capture.owned.append(free)
    else:
        stream.submit(free)
