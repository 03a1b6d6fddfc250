"""``call``: an operator on numpy arrays, for notebooks and tests."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

import aclnnop
from acl_emu import api
from acl_emu.api.acl_rt.lifecycle import process
from acl_emu.core import constants as c
from acl_emu.core import dtypes
from acl_emu.core.documented import PHASE_ONE
from acl_emu.runtime import context
from acl_emu.runtime.tensor import BoolArray, FloatArray, IntArray, Scalar, ScalarList, TensorList
from acl_emu.spec import Operator
from acl_emu.spec.kinds import HandleKind, Kind, ListKind, TensorKind, tensor_kind

Array = npt.NDArray[Any]


class AclCallError(RuntimeError):
    """An emulated call failed; ``code`` is its status."""

    def __init__(self, function: str, code: int) -> None:
        text = api.aclGetRecentErrMsg()
        super().__init__(f"{function} returned {code}: {(text or 'no message').strip()}")
        self.code = code


def call(operator: str, *arguments: Any, **named: Any) -> Any:
    """Run both phases of an operator on numpy arrays and wait for it.

    Tensor parameters are arrays (half types through ml_dtypes) or None; their strides are kept, so a transposed or broadcast array
    becomes a non-contiguous tensor. Output parameters are arrays too: they are filled in place, and returned (a tuple of them where
    there are several); one whose shape the data decide, as that of aclnnNonzero, is returned in that shape. Numbers stand for aclScalar, a
    DOUBLE where a tensor is DOUBLE and FLOAT elsewhere, sequences for arrays and lists. Device 0 is used where the thread has no device.
    ``"Softmax"`` is short for ``"aclnnSoftmax"``.

    >>> call("aclnnSmoothL1LossBackward", grad, x, y, 0, 1.0, np.empty_like(x))  # doctest: +SKIP
    """
    if not operator.startswith("aclnn"):
        operator = f"aclnn{operator}"
    declared = aclnnop.find(operator)
    values = dict(zip(declared.names, inspect.signature(declared.function).bind(*arguments, **named).args, strict=True))
    if not process.count:
        api.aclnnInit(None)  # a program that only makes such calls need not know of it
    with ExitStack() as stack:
        current = context.find_current()
        if current is None or current.primary:
            # A reference of its own: another thread that resets the device must not end this call.
            index = current.device.index if current else 0
            _check("aclrtSetDevice", api.aclrtSetDevice(index))
            stack.callback(api.aclrtResetDevice, index)
        api.aclGetRecentErrMsg()  # the text of an exception is about this call, not about an earlier one
        uploads: list[tuple[Array, _Upload]] = []
        numbers = _number_types(declared, values)
        arguments_c = [_argument(kind, name, values[name], stack, uploads, numbers) for name, kind in declared.parameters]
        size, executor, status = declared.get_workspace_size(*arguments_c)
        _check(operator + PHASE_ONE, status)
        with ExitStack() as unused:
            unused.callback(api.aclDestroyAclOpExecutor, executor)
            workspace = _allocate(size, stack) if size else None
            stream, status = api.aclrtCreateStream()
            _check("aclrtCreateStream", status)
            stack.callback(api.aclrtDestroyStream, stream)
            unused.pop_all()
        _check(operator, declared.run(workspace, size, executor, stream))
        _check("aclrtSynchronizeStream", api.aclrtSynchronizeStream(stream))
        results = []
        for array, upload in uploads:
            results.append(upload.download(array))
    return results[0] if len(results) == 1 else tuple(results)


def host_array(address: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Page-locked host memory (aclrtMallocHost) as a numpy array; it dies with aclrtFreeHost."""
    wanted = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64)) * wanted.itemsize
    block: Array = np.frombuffer(memoryview((ctypes.c_ubyte * count).from_address(address)), np.uint8)
    return block.view(wanted).reshape(shape)


def _check(function: str, status: int) -> None:
    if status != c.ACL_SUCCESS:
        raise AclCallError(function, status)


def _allocate(size: int, stack: ExitStack) -> int | None:
    address, status = api.aclrtMalloc(size, c.ACL_MEM_MALLOC_HUGE_FIRST)
    _check("aclrtMalloc", status)
    stack.callback(api.aclrtFree, address)
    return address


class _Upload:
    """The memory below an array, on the device: from its first to its last element, gaps included."""

    def __init__(self, array: Array, kind: TensorKind, stack: ExitStack) -> None:
        if any(stride < 0 or stride % array.itemsize for stride in array.strides):
            array = array.copy()
        self.dtype = dtypes.from_numpy(array.dtype)
        self.strides = tuple(stride // array.itemsize for stride in array.strides)
        self.shape = array.shape
        self.count = 0 if array.size == 0 else 1 + sum((n - 1) * s for n, s in zip(array.shape, self.strides, strict=True))
        self.address: int | None = None
        if self.count:
            self.address = _allocate(self.count * array.itemsize, stack)
            block = np.zeros(self.count, array.dtype)
            _strided(block, self.shape, self.strides)[...] = array
            _check("aclrtMemcpy", api.aclrtMemcpy(self.address, block.nbytes, block, block.nbytes, c.ACL_MEMCPY_HOST_TO_DEVICE))
        self.tensor = api.aclCreateTensor(
            self.shape, self.dtype.code, self.strides, 0, kind.format_for(array.ndim), self.shape, self.address
        )
        stack.callback(api.aclDestroyTensor, self.tensor)

    def download(self, array: Array) -> Array:
        """Copy the elements back into ``array``, and return it; of an output whose shape the data decided, the part that was written."""
        block = np.empty(self.count, self.dtype.numpy)
        if self.count:
            _check("aclrtMemcpy", api.aclrtMemcpy(block, block.nbytes, self.address, block.nbytes, c.ACL_MEMCPY_DEVICE_TO_HOST))
            array[...] = _strided(block, self.shape, self.strides)
        shape, strides = (tuple(ask(self.tensor)[0]) for ask in (api.aclGetViewShape, api.aclGetViewStrides))
        return array if shape == self.shape else _strided(block, shape, strides)


def _strided(block: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    return np.ndarray(shape, block.dtype, block.view(np.uint8), 0, tuple(stride * block.itemsize for stride in strides))


Numbers = tuple[tuple[type[Any], int], ...]
"""The data types of scalars that are made of Python's numbers."""
_SINGLE: Numbers = ((bool, c.ACL_BOOL), (int, c.ACL_INT64), (float, c.ACL_FLOAT), (complex, c.ACL_COMPLEX64))
_DOUBLE: Numbers = ((bool, c.ACL_BOOL), (int, c.ACL_INT64), (float, c.ACL_DOUBLE), (complex, c.ACL_COMPLEX128))


def _number_types(declared: Operator, values: dict[str, Any]) -> Numbers:
    """A scalar beside a tensor of double precision loses nothing of its own."""
    for name, kind in declared.parameters:
        if values[name] is not None and tensor_kind(kind) is not None:
            arrays = values[name] if isinstance(kind, ListKind) else [values[name]]
            if any(np.asarray(array).dtype in (np.float64, np.complex128) for array in arrays if array is not None):
                return _DOUBLE
    return _SINGLE


def _argument(kind: Kind, name: str, value: Any, stack: ExitStack, outputs: list[tuple[Array, _Upload]], numbers: Numbers) -> Any:
    if value is None or not isinstance(kind, (TensorKind, HandleKind, ListKind)):
        return value
    if isinstance(kind, TensorKind):
        return _tensor(kind, name, value, stack, outputs)
    if isinstance(kind, ListKind):
        value = [_argument(kind.member, f"{name}[{i}]", member, stack, outputs, numbers) for i, member in enumerate(value)]
    elif kind.kind is Scalar:
        return _kept(_scalar(name, value, numbers), api.aclDestroyScalar, stack)
    create, destroy = _SEQUENCES[kind.kind]
    return _kept(create(value), destroy, stack)


_SEQUENCES: dict[type[Any], tuple[Callable[..., Any], Callable[..., Any]]] = {
    TensorList: (api.aclCreateTensorList, api.aclDestroyTensorList),
    ScalarList: (api.aclCreateScalarList, api.aclDestroyScalarList),
    IntArray: (api.aclCreateIntArray, api.aclDestroyIntArray),
    FloatArray: (api.aclCreateFloatArray, api.aclDestroyFloatArray),
    BoolArray: (api.aclCreateBoolArray, api.aclDestroyBoolArray),
}


def _tensor(kind: TensorKind, name: str, value: Any, stack: ExitStack, outputs: list[tuple[Array, _Upload]]) -> int | None:
    if value is None:
        return None
    if kind.io != "in" and not isinstance(value, np.ndarray):
        raise TypeError(f"{name} is an output: it must be an array, which is filled in place, got {type(value).__name__}")
    array = np.asarray(value)
    upload = _Upload(array, kind, stack)
    if kind.io != "in":
        outputs.append((array, upload))
    return upload.tensor


def _scalar(name: str, value: Any, numbers: Numbers) -> int | None:
    if isinstance(value, np.generic):
        return api.aclCreateScalar(value, dtypes.from_numpy(value.dtype).code)
    for kind, code in numbers:
        if isinstance(value, kind):
            return api.aclCreateScalar(np.asarray(value)[()], code)
    raise TypeError(f"{name} must be a number, got {value!r}")


def _kept(handle: int | None, destroy: Callable[..., Any], stack: ExitStack) -> int | None:
    stack.callback(destroy, handle)
    return handle
