"""One call of an operator, described by arrays and numbers; to be changed, planned, laid out anew, run and looked at."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import acl_emu as acl
import aclnnop
from acl_emu.core import dtypes
from acl_emu.runtime import memory
from acl_emu.runtime.tensor import BoolArray, FloatArray, IntArray, Scalar, ScalarList, TensorList
from acl_emu.spec import Operator
from acl_emu.spec.examples import numbers as numbers
from acl_emu.spec.kinds import HandleKind, ListKind, TensorKind

Array = npt.NDArray[Any]

_GUARD = 5
"""Elements of foreign memory that follow every tensor."""


class Meta(NamedTuple):
    """A tensor that phase one only looks at, of any type, strides and format."""

    shape: tuple[int, ...]
    dtype: Any
    """A numpy dtype, or the code of an aclDataType."""
    strides: tuple[int, ...] | None = None
    offset: int = 0
    format: int | None = None
    """None: as an array has it, ND where that is allowed."""
    storage: tuple[int, ...] | None = None
    """By default as the shape."""


class Refused(Exception):
    """A call returned another status than success."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(f"{function} returned {status}: {(acl.aclGetRecentErrMsg() or '').strip()}")
        self.status = status


class Placed:
    """An array in device memory, with foreign bytes in front of it, behind it and in its gaps."""

    def __init__(self, array: Array, layout: int, stack: ExitStack) -> None:
        self.shape, self.dtype = array.shape, array.dtype
        self.strides, self.offset, count = lay_out(array, layout)
        pattern = np.resize(np.arange(251, dtype=np.uint8) ^ 0x5A, (count + _GUARD) * self.dtype.itemsize)
        self.before: Array = pattern.view(self.dtype)
        self.view(self.before)[...] = array
        self.address, status = acl.aclrtMalloc(self.before.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert status == 0
        stack.callback(acl.aclrtFree, self.address)
        assert acl.aclrtMemcpy(self.address, self.before.nbytes, self.before, self.before.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0

    def view(self, block: Array) -> Array:
        item = self.dtype.itemsize
        return np.ndarray(self.shape, self.dtype, block.view(np.uint8), self.offset * item, [stride * item for stride in self.strides])

    def now(self) -> Array:
        block = np.empty_like(self.before)
        assert acl.aclrtMemcpy(block, block.nbytes, self.address, block.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
        return block

    def unchanged(self) -> bool:
        return self.now().tobytes() == self.before.tobytes()

    def result(self) -> Array:
        """The elements now; whatever lies between and around them must not have changed."""
        block = self.now()
        found = self.view(block).copy()
        self.view(block)[...] = self.view(self.before)
        assert block.tobytes() == self.before.tobytes(), "memory outside the output was written"
        return found


def lay_out(array: Array, layout: int) -> tuple[tuple[int, ...], int, int]:
    """Strides, offset and number of elements of one of many layouts; 0 is the plain one. Broadcast axes keep their stride of 0."""
    rng = np.random.default_rng((layout, array.ndim, *array.shape))
    order = rng.permutation(array.ndim) if layout else range(array.ndim)[::-1]
    strides, reach = [0] * array.ndim, 1
    for axis in order:
        if array.strides[axis] == 0 and array.shape[axis] > 1:
            continue
        strides[axis] = reach * int(rng.integers(1, 3)) if layout else reach
        reach = max(1, strides[axis] * array.shape[axis] + (int(rng.integers(0, 3)) if layout else 0))
    offset = int(rng.integers(0, 9)) if layout else 0
    last = sum((length - 1) * stride for length, stride in zip(array.shape, strides, strict=True)) if array.size else -1
    return tuple(strides), offset, offset + last + 1


@dataclass(frozen=True)
class Case:
    """``Case("aclnnFoo", dict(x=array, dim=1, out=array))``: arrays are tensors, None is null, numbers and sequences as declared.

    Output arrays give shape and dtype, and what the memory holds before.
    """

    operator: str
    arguments: dict[str, Any]

    @property
    def declared(self) -> Operator:
        return aclnnop.find(self.operator)

    def but(self, /, **changes: Any) -> Case:
        """The same call with some arguments changed."""
        assert changes.keys() <= self.arguments.keys(), changes
        return Case(self.operator, {**self.arguments, **changes})

    def plan(self) -> tuple[int, int]:
        """Phase one on tensors without memory: status and workspace size."""
        with ExitStack() as stack:
            size, executor, status = self._phase_one(self._arguments(stack, {}, layout=None))
            if status == 0:
                assert acl.aclDestroyAclOpExecutor(executor) == 0
            else:
                assert (size, executor) == (0, None)
            return status, size

    def status(self) -> int:
        """What phase one returns."""
        return self.plan()[0]

    def run(self, layout: int = 0) -> Array:
        """The output of an operator that has one; see results."""
        (result,) = self.results(layout)
        return result

    def results(self, layout: int = 0, *, missing: int = 0) -> tuple[Array, ...]:
        """The outputs, after both phases and a synchronize. Every other tensor, and memory around them all, must be as before.

        ``layout`` chooses strides, offsets and gaps; ``missing`` withholds so many bytes of workspace. Raises Refused.
        """
        with ExitStack() as stack:
            placed: dict[str, Placed] = {}
            arguments = self._arguments(stack, placed, layout)
            size, executor, status = self._phase_one(arguments)
            _require(f"{self.operator}GetWorkspaceSize", status)
            for name, tensor in placed.items():
                assert tensor.unchanged(), f"phase one wrote to {name}"
            workspace, stream = self._workspace(size, stack), self._stream(stack)
            _require(self.operator, self.declared.run(workspace, size - missing, executor, stream))
            try:
                _require("aclrtSynchronizeStream", acl.aclrtSynchronizeStream(stream))
            except Refused:
                assert all(tensor.unchanged() for tensor in placed.values()), "a faulting kernel wrote"
                raise
            outputs = self._outputs()
            for name, tensor in placed.items():
                assert name.partition("[")[0] in outputs or tensor.unchanged(), f"input {name} was written"
            return tuple(tensor.result() for name, tensor in placed.items() if name.partition("[")[0] in outputs)

    def leaves_memory_alone(self, layout: int = 0) -> bool:
        """Whether phase one succeeds on tensors in device memory without a change to any of it."""
        with ExitStack() as stack:
            arguments = self._arguments(stack, {}, layout)
            before = _device_bytes()
            _, executor, status = self._phase_one(arguments)
            same = _device_bytes() == before
            _require(f"{self.operator}GetWorkspaceSize", status)
            assert acl.aclDestroyAclOpExecutor(executor) == 0
            return same

    def refused(self, layout: int = 0, *, missing: int = 0) -> int:
        """The status of the phase, or of the synchronize, that ends a run early; 0 where none does."""
        try:
            self.results(layout, missing=missing)
        except Refused as refusal:
            return refusal.status
        return 0

    def _outputs(self) -> set[str]:
        return {name for name, kind in self.declared.parameters if kind.io != "in"}

    def _phase_one(self, arguments: list[Any]) -> tuple[int, int | None, int]:
        return self.declared.get_workspace_size(*arguments)

    def _workspace(self, size: int, stack: ExitStack) -> int | None:
        if not size:
            return None
        address, status = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert status == 0
        stack.callback(acl.aclrtFree, address)
        acl.aclrtMemset(address, size, 0xFF, size)  # as if used before: NaN in every floating-point type
        return address

    def _stream(self, stack: ExitStack) -> int | None:
        stream, status = acl.aclrtCreateStream()
        assert status == 0
        stack.callback(acl.aclrtDestroyStream, stream)
        return stream

    def _arguments(self, stack: ExitStack, placed: dict[str, Placed], layout: int | None) -> list[Any]:
        """The arguments as a C program has them; without a layout the tensors have no memory."""

        def tensor(name: str, kind: TensorKind, value: Any) -> int | None:
            if value is None:
                return None
            if isinstance(value, Meta):
                code = value.dtype if isinstance(value.dtype, int) else dtypes.from_numpy(value.dtype).code
                storage = value.shape if value.storage is None else value.storage
                form = kind.format_for(len(value.shape)) if value.format is None else value.format
                handle = acl.aclCreateTensor(value.shape, code, value.strides, value.offset, form, storage, None)
            else:
                code = dtypes.from_numpy(value.dtype).code
                strides, offset, count = lay_out(value, layout or 0)
                address = None
                if layout is not None:
                    placed[name] = Placed(value, layout, stack)
                    address = placed[name].address
                handle = acl.aclCreateTensor(value.shape, code, strides, offset, kind.format_for(value.ndim), (count,), address)
            stack.callback(acl.aclDestroyTensor, handle)
            return handle

        def convert(name: str, kind: Any, value: Any) -> Any:
            if value is None or not isinstance(kind, (TensorKind, HandleKind, ListKind)):
                return value
            if isinstance(kind, TensorKind):
                return tensor(name, kind, value)
            if isinstance(kind, ListKind):
                value = [convert(f"{name}[{i}]", kind.member, member) for i, member in enumerate(value)]
            handle = scalar(value) if kind.kind is Scalar else _CREATE[kind.kind](value)
            stack.callback(_DESTROY[kind.kind], handle)
            return handle

        def scalar(value: Any) -> int | None:
            number = typed(value)
            return acl.aclCreateScalar(number, dtypes.from_numpy(number.dtype).code)

        return [convert(name, kind, self.arguments[name]) for name, kind in self.declared.parameters]


_CREATE: dict[Any, Any] = {
    IntArray: acl.aclCreateIntArray,
    FloatArray: acl.aclCreateFloatArray,
    BoolArray: acl.aclCreateBoolArray,
    TensorList: acl.aclCreateTensorList,
    ScalarList: acl.aclCreateScalarList,
}
_DESTROY: dict[Any, Any] = {
    IntArray: acl.aclDestroyIntArray,
    FloatArray: acl.aclDestroyFloatArray,
    BoolArray: acl.aclDestroyBoolArray,
    Scalar: acl.aclDestroyScalar,
    TensorList: acl.aclDestroyTensorList,
    ScalarList: acl.aclDestroyScalarList,
}


def typed(value: Any) -> np.generic:
    """A scalar of an example with its type: that of numpy, else FLOAT, INT64 or BOOL."""
    found: np.generic = value if isinstance(value, np.generic) else np.asarray(value, np.float32 if isinstance(value, float) else None)[()]
    return found


def _require(function: str, status: int) -> None:
    if status:
        raise Refused(function, status)


def _device_bytes() -> list[bytes]:
    """Every living allocation of device memory."""
    found = []
    for region in memory.regions():
        for address in region.addresses():
            allocation = region.find(address)
            assert allocation is not None
            size = allocation.extent
            block = np.empty(size, np.uint8)
            assert acl.aclrtMemcpy(block, size, address, size, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
            found.append(address.to_bytes(8, "little") + block.tobytes())
    return found
