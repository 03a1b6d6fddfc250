"""The emulator's side: a call on tensors in device memory, made as a program makes it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import acl_emu as acl
import aclnnop
from benchmarks.layouts import place, whole

Array = npt.NDArray[Any]

_CODES = {
    np.dtype(np.float32): acl.ACL_FLOAT,
    np.dtype(np.float16): acl.ACL_FLOAT16,
    np.dtype(ml_dtypes.bfloat16): acl.ACL_BF16,
    np.dtype(np.int64): acl.ACL_INT64,
    np.dtype(np.int32): acl.ACL_INT32,
    np.dtype(np.uint8): acl.ACL_UINT8,
    np.dtype(np.bool_): acl.ACL_BOOL,
}


class CallFailed(RuntimeError):
    """A function returned another status than success."""


def require(function: str, status: int) -> None:
    """Stop where a call failed."""
    if status:
        raise CallFailed(f"{function} returned {status}: {(acl.aclGetRecentErrMsg() or '').strip()}")


class Call:
    """An operator with its arguments on the device; ``close`` gives everything back."""

    def __init__(self, operator: str, arguments: dict[str, Any]) -> None:
        self._stack = ExitStack()
        self._name = operator
        self._phase_one, self._phase_two = getattr(aclnnop, f"{operator}GetWorkspaceSize"), getattr(aclnnop, operator)
        self._sources: dict[str, Array] = {}
        self._addresses: dict[str, int] = {}
        require("aclrtSetDevice", acl.aclrtSetDevice(0))
        self._stack.callback(acl.aclrtResetDevice, 0)
        parameters = aclnnop.find(operator).parameters
        self._outputs = [name for name, kind in parameters if kind.io != "in" and arguments[name] is not None]
        self.arguments = [self._argument(name, kind, arguments[name]) for name, kind in parameters]
        self.stream, status = acl.aclrtCreateStream()
        require("aclrtCreateStream", status)
        self._stack.callback(acl.aclrtDestroyStream, self.stream)
        self._size, self._executor, status = self._phase_one(*self.arguments)
        require(f"{operator}GetWorkspaceSize", status)
        require("aclSetAclOpExecutorRepeatable", acl.aclSetAclOpExecutorRepeatable(self._executor))
        self._stack.callback(acl.aclDestroyAclOpExecutor, self._executor)
        self._workspace = self._allocate(self._size) if self._size else None

    def run(self) -> None:
        """Phase two of the prepared executor, waited for."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Phase two of the prepared executor."""
        require(self._name, self._phase_two(self._workspace, self._size, self._executor, self.stream))

    def wait(self) -> None:
        """Until the stream is idle."""
        require("aclrtSynchronizeStream", acl.aclrtSynchronizeStream(self.stream))

    def run_both(self) -> None:
        """Both phases, waited for."""
        size, executor, status = self._phase_one(*self.arguments)
        if status or self._phase_two(self._workspace, size, executor, self.stream) or acl.aclrtSynchronizeStream(self.stream):
            raise CallFailed(f"{self._name}: {(acl.aclGetRecentErrMsg() or '').strip()}")

    def plan(self) -> None:
        """Phase one, and its executor destroyed unused."""
        _, executor, status = self._phase_one(*self.arguments)
        require(f"{self._name}GetWorkspaceSize", status or acl.aclDestroyAclOpExecutor(executor))

    def restore(self) -> None:
        """Put back what the outputs held at first."""
        for name in self._outputs:
            self._upload(name)

    def inputs(self) -> dict[str, bytes]:
        """What the device holds of every tensor now, block by block."""
        return {name: self._download(name).tobytes() for name in self._sources}

    def results(self) -> dict[str, Array]:
        """The outputs."""
        found = {}
        for name in self._outputs:
            source, block = self._sources[name], self._download(name)
            strides, offset = place(source)
            item = source.itemsize
            found[name] = np.ndarray(source.shape, source.dtype, block, offset * item, [stride * item for stride in strides])
        return found

    def close(self) -> None:
        """Give everything back."""
        self._stack.close()

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _allocate(self, size: int) -> int:
        address, status = acl.aclrtMalloc(max(size, 1), acl.ACL_MEM_MALLOC_HUGE_FIRST)
        require("aclrtMalloc", status)
        self._stack.callback(acl.aclrtFree, address)
        return address

    def _upload(self, name: str) -> None:
        block = whole(self._sources[name])
        status = acl.aclrtMemcpy(self._addresses[name], block.nbytes, block, block.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
        require("aclrtMemcpy", status)

    def _download(self, name: str) -> Array:
        block = np.empty_like(whole(self._sources[name]))
        require("aclrtMemcpy", acl.aclrtMemcpy(block, block.nbytes, self._addresses[name], block.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST))
        return block

    def _tensor(self, name: str, array: Array, layout: int) -> Any:
        block = whole(array)
        self._sources[name], self._addresses[name] = array, self._allocate(block.nbytes)
        self._upload(name)
        strides, offset = place(array)
        code = _CODES[array.dtype]
        return acl.aclCreateTensor(array.shape, code, strides, offset, layout, (block.size,), self._addresses[name])

    def _argument(self, name: str, kind: Any, value: Any) -> Any:
        c_type = kind.c_type
        if isinstance(value, np.ndarray):
            made = self._tensor(name, value, acl.ACL_FORMAT_ND if acl.ACL_FORMAT_ND in kind.formats else acl.ACL_FORMAT_NCHW)
            self._stack.callback(acl.aclDestroyTensor, made)
        elif "aclTensorList*" in c_type:
            made = acl.aclCreateTensorList([self._tensor(f"{name}[{i}]", one, acl.ACL_FORMAT_ND) for i, one in enumerate(value)])
            self._stack.callback(acl.aclDestroyTensorList, made)  # with its tensors
        elif isinstance(value, np.dtype):
            made = _CODES[value]
        elif "aclScalar*" in c_type:
            made = acl.aclCreateScalar(np.float32(value), acl.ACL_FLOAT)
            self._stack.callback(acl.aclDestroyScalar, made)
        elif "aclIntArray*" in c_type:
            made = acl.aclCreateIntArray(value)
            self._stack.callback(acl.aclDestroyIntArray, made)
        elif "aclBoolArray*" in c_type:
            made = acl.aclCreateBoolArray(value)
            self._stack.callback(acl.aclDestroyBoolArray, made)
        else:
            made = value
        return made
