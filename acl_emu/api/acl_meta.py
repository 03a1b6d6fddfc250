"""aclnn/acl_meta.h: tensors, scalars, arrays, lists and executors, from making to destroying."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import index
from typing import Any

import numpy as np

from acl_emu.api.border import DevicePointer, Handle, HostPointer, acl, also_named, check_buffer, host_address, plain, values_of
from acl_emu.core import _fast, dtypes, handles
from acl_emu.core import constants as c
from acl_emu.core._bridge import lib
from acl_emu.core.errors import AclError, AclnnInner, AclnnInvalid, AclnnNullptr
from acl_emu.runtime import memory, objects
from acl_emu.runtime.executor import Executor, find_executor_object
from acl_emu.runtime.tensor import MAX_RANK, BoolArray, FloatArray, IntArray, Scalar, ScalarList, Tensor, TensorList, make_view

HEADER = "aclnn/acl_meta.h"


class UnsupportedDtype(AclnnInvalid):
    """aclCreateScalar with a type that has no scalars."""

    tag, title = "EZ1006", "AclNN_Dtype_Not_Supported"


# Making

_DIMS = "const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride, int64_t offset, aclFormat format, "


@plain(HEADER, f"aclTensor* aclCreateTensor({_DIMS}const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData)")
def aclCreateTensor(
    viewDims: Sequence[int],
    dataType: int,
    stride: Sequence[int] | None,
    offset: int,
    format: int,
    storageDims: Sequence[int],
    tensorData: DevicePointer,
) -> Handle:
    """A tensor object over memory that the program owns; nothing but the pointers is checked."""
    shape, storage = values_of(viewDims), values_of(storageDims)
    strides = None if stride is None else values_of(stride)
    _check_rank(shape, strides, storage)
    return objects.make(Tensor(make_view(shape, dataType, strides, offset, format, storage), _address(tensorData, "tensorData")))


def _address(pointer: DevicePointer, name: str) -> int | None:
    """An address that an object keeps: nothing would fail before a kernel runs."""
    if pointer.__class__ is not int:
        handles.check_type(name, pointer, "an address")
    return pointer or None


def _check_rank(shape: Sequence[int], strides: Sequence[int] | None, storage: Sequence[int]) -> None:
    """The object has room for so many dimensions and no more; each has a stride."""
    if strides is not None and len(strides) != len(shape):
        raise AclnnInvalid(f"stride has {len(strides)} values, expected one for each of the {len(shape)} dimensions")
    for name, dims in (("viewDims", shape), ("storageDims", storage)):
        if len(dims) > MAX_RANK:
            raise AclnnInvalid(f"{name} has {len(dims)} dimensions, expected at most {MAX_RANK}")


@acl(
    HEADER,
    f"aclnnStatus aclInitTensor(aclTensor* tensor, {_DIMS}const int64_t* storageDims, uint64_t storageDimsNum, void* tensorDataAddr)",
)
def aclInitTensor(
    tensor: Handle,
    viewDims: Sequence[int] | None,
    dataType: int,
    stride: Sequence[int] | None,
    offset: int,
    format: int,
    storageDims: Sequence[int] | None,
    tensorDataAddr: DevicePointer,
) -> None:
    """Describe a tensor object anew; null or empty dimensions and a null address keep what there is."""
    found = _find(tensor, Tensor, "tensor")
    shape = values_of(viewDims) or found.view.shape
    storage = values_of(storageDims) or found.view.storage
    strides = values_of(stride) or None
    _check_rank(shape, strides, storage)
    assert tensor is not None
    objects.change(tensor, make_view(shape, dataType, strides, offset, format, storage), _address(tensorDataAddr, "tensorDataAddr"))


@plain(HEADER, "aclScalar* aclCreateScalar(void* value, aclDataType dataType)")
def aclCreateScalar(value: HostPointer, dataType: int) -> Handle:
    """One value, copied from host memory: a buffer or address, or in Python also a plain number."""
    if dataType not in dtypes.SCALAR_CODES:
        raise UnsupportedDtype(f"dataType is {dtypes.dtype_name(dataType)}, which has no scalars")
    if value is None:
        raise AclnnNullptr("value must not be a null pointer")
    dtype = dtypes.BY_CODE[dataType]
    return objects.make(Scalar(dtype, _scalar_bytes(value, dtype)))


def _scalar_bytes(value: Any, dtype: dtypes.DType) -> bytes:
    if isinstance(value, (bool, float, complex, np.generic)):
        return bytes(np.asarray(value).astype(dtype.numpy).tobytes())
    buffer = np.zeros(dtype.itemsize, np.uint8)
    address = host_address(value, "value")
    if not address:
        raise AclnnNullptr("value must not be a null pointer")
    check_buffer(value, "value", dtype.itemsize)
    try:
        memory.move(host_address(buffer, "value"), address, dtype.itemsize)
    except AclError as error:
        raise AclnnInvalid(f"value: {error}") from None
    return buffer.tobytes()


@plain(HEADER, "aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size)")
def aclCreateIntArray(value: Sequence[int] | None) -> Handle:
    """Integers, copied; null gives an empty array."""
    return objects.make(IntArray([int(index(item)) for item in values_of(value)]))


@plain(HEADER, "aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size)")
def aclCreateFloatArray(value: Sequence[float] | None) -> Handle:
    """Floats, copied; null gives an empty array."""
    return objects.make(FloatArray([float(np.float32(item)) for item in values_of(value)]))


@plain(HEADER, "aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size)")
def aclCreateBoolArray(value: Sequence[bool] | None) -> Handle:
    """Truth values, copied; null gives an empty array."""
    return objects.make(BoolArray([bool(item) for item in values_of(value)]))


@plain(HEADER, "aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size)")
def aclCreateTensorList(value: Sequence[Handle] | None) -> Handle:
    """A list that refers to tensors; it destroys them when it is destroyed."""
    return objects.make(TensorList(_members(value)))


@plain(HEADER, "aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size)")
def aclCreateScalarList(value: Sequence[Handle] | None) -> Handle:
    """A list that refers to scalars; it destroys them when it is destroyed."""
    return objects.make(ScalarList(_members(value)))


def _members(value: Sequence[Handle] | None) -> tuple[Handle, ...]:
    for place, member in enumerate(members := values_of(value)):
        handles.check_type(f"value[{place}]", member)
    return members


# Destroying


def _destroy(handle: Handle, kind: type[Any], name: str) -> None:
    """Some documents destroy members that their list has destroyed before: that is let pass, once."""
    if handle and not handles.destroy(handle, kind):
        _find(handle, kind, name)


def _quick(kind: type[Any]) -> Callable[..., bool]:
    return partial(_fast.destroy, kind.number)


@acl(HEADER, "aclnnStatus aclDestroyTensor(const aclTensor* tensor)", quick=_quick(Tensor))
def aclDestroyTensor(tensor: Handle) -> None:
    """Destroy a tensor object, not its memory; null is fine."""
    _destroy(tensor, Tensor, "tensor")


@acl(HEADER, "aclnnStatus aclDestroyScalar(const aclScalar* scalar)", quick=_quick(Scalar))
def aclDestroyScalar(scalar: Handle) -> None:
    """Destroy a scalar; null is fine."""
    _destroy(scalar, Scalar, "scalar")


@acl(HEADER, "aclnnStatus aclDestroyIntArray(const aclIntArray* array)", quick=_quick(IntArray))
def aclDestroyIntArray(array: Handle) -> None:
    """Destroy an array; null is fine."""
    _destroy(array, IntArray, "array")


@acl(HEADER, "aclnnStatus aclDestroyFloatArray(const aclFloatArray* array)", quick=_quick(FloatArray))
def aclDestroyFloatArray(array: Handle) -> None:
    """Destroy an array; null is fine."""
    _destroy(array, FloatArray, "array")


@acl(HEADER, "aclnnStatus aclDestroyBoolArray(const aclBoolArray* array)", quick=_quick(BoolArray))
def aclDestroyBoolArray(array: Handle) -> None:
    """Destroy an array; null is fine."""
    _destroy(array, BoolArray, "array")


@acl(HEADER, "aclnnStatus aclDestroyTensorList(const aclTensorList* array)", quick=_quick(TensorList))
def aclDestroyTensorList(array: Handle) -> None:
    """Destroy a list and every tensor in it; null is fine."""
    _destroy(array, TensorList, "array")


@acl(HEADER, "aclnnStatus aclDestroyScalarList(const aclScalarList* array)", quick=_quick(ScalarList))
def aclDestroyScalarList(array: Handle) -> None:
    """Destroy a list and every scalar in it; null is fine."""
    _destroy(array, ScalarList, "array")


# Asking and changing


def _find(handle: Handle, kind: type[Any], name: str) -> Any:
    if not handle:
        raise AclnnNullptr(f"{name} must not be a null pointer (expected {kind.c_name}*)")
    thing = handles.find(handle, kind)
    if thing is None:
        raise AclnnInvalid(f"{name} is {handles.describe(handle)}, expected a living {kind.c_name}")
    return thing


@acl(HEADER, "aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum)")
def aclGetViewShape(tensor: Handle) -> list[int]:
    """View dimensions."""
    return list(_find(tensor, Tensor, "tensor").view.shape)


@acl(HEADER, "aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum)")
def aclGetViewStrides(tensor: Handle) -> list[int]:
    """Strides in elements."""
    return list(_find(tensor, Tensor, "tensor").view.strides)


@acl(HEADER, "aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum)")
def aclGetStorageShape(tensor: Handle) -> list[int]:
    """Dimensions of the memory block behind the view."""
    return list(_find(tensor, Tensor, "tensor").view.storage)


@acl(HEADER, "aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset)")
def aclGetViewOffset(tensor: Handle) -> int:
    """Offset in elements."""
    return int(_find(tensor, Tensor, "tensor").view.offset)


@acl(HEADER, "aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format)")
def aclGetFormat(tensor: Handle) -> int:
    """Format of the view."""
    return int(_find(tensor, Tensor, "tensor").view.format)


@acl(HEADER, "aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType)")
def aclGetDataType(tensor: Handle) -> int:
    """Data type."""
    return int(_find(tensor, Tensor, "tensor").view.dtype_code)


@acl(HEADER, "aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size)")
def aclGetIntArraySize(array: Handle) -> int:
    """Number of values."""
    return len(_find(array, IntArray, "array"))


@acl(HEADER, "aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size)")
def aclGetFloatArraySize(array: Handle) -> int:
    """Number of values."""
    return len(_find(array, FloatArray, "array"))


@acl(HEADER, "aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size)")
def aclGetBoolArraySize(array: Handle) -> int:
    """Number of values."""
    return len(_find(array, BoolArray, "array"))


@acl(HEADER, "aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size)")
def aclGetTensorListSize(tensorList: Handle) -> int:
    """Number of members."""
    return len(_find(tensorList, TensorList, "tensorList"))


@acl(HEADER, "aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size)")
def aclGetScalarListSize(scalarList: Handle) -> int:
    """Number of members."""
    return len(_find(scalarList, ScalarList, "scalarList"))


@acl(HEADER, "aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr)")
def aclGetRawTensorAddr(tensor: Handle) -> DevicePointer:
    """The address of the memory, without the view's offset."""
    address = _find(tensor, Tensor, "tensor").address
    return None if address is None else int(address)


@acl(HEADER, "aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr)")
def aclSetRawTensorAddr(tensor: Handle, addr: DevicePointer) -> None:
    """Put the tensor over other memory; before phase one or after phase two."""
    _find(tensor, Tensor, "tensor")
    if not addr:
        raise AclnnNullptr("addr must not be a null pointer")
    lib.acl_emu_set_address(tensor, _address(addr, "addr"))


# Executors


@acl(HEADER, "aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor)")
def aclSetAclOpExecutorRepeatable(executor: Handle) -> None:
    """Let phase two run again and again; aclDestroyAclOpExecutor is due then."""
    lib.acl_emu_make_repeatable(find_executor_object(executor).handle)


@acl(HEADER, "aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor)", quick=_quick(Executor))
def aclDestroyAclOpExecutor(executor: Handle) -> None:
    """Destroy an executor that was made repeatable, or was never run."""
    find_executor_object(executor).destroy()


def _write_address(tensor: Handle, addr: DevicePointer) -> None:
    """The object gets the address even where the executor then refuses."""
    if handles.find(tensor, Tensor) is None:
        raise AclnnInner(
            f"tensor is {handles.describe(tensor) if tensor else 'null'}, expected a living aclTensor", c.ACLNN_ERR_INNER_NULLPTR
        )
    lib.acl_emu_set_address(tensor, _address(addr, "addr") or 0)


def _write_member_address(tensors: Handle, relativeIndex: int, addr: DevicePointer) -> None:
    found = handles.find(tensors, TensorList)
    if found is None:
        raise AclnnInner(
            f"tensors is {handles.describe(tensors) if tensors else 'null'}, expected a living aclTensorList", c.ACLNN_ERR_INNER_NULLPTR
        )
    if not 0 <= relativeIndex < len(found):
        raise AclnnInvalid(f"relativeIndex is {relativeIndex}, tensors has {len(found)} members")
    _write_address(found.members[relativeIndex], addr)


def _flat(executor: Executor) -> tuple[Any, ...]:
    return executor.inputs + executor.outputs


@acl(HEADER, "aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr)")
def aclSetInputTensorAddr(executor: Handle, index: int, tensor: Handle, addr: DevicePointer) -> None:
    """Give the index-th input tensor other memory; members of lists count one by one."""
    _write_address(tensor, addr)
    found = find_executor_object(executor)
    found.replace_address(found.inputs, index, addr, "input")


@acl(HEADER, "aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr)")
def aclSetOutputTensorAddr(executor: Handle, index: int, tensor: Handle, addr: DevicePointer) -> None:
    """Give the index-th output tensor other memory."""
    _write_address(tensor, addr)
    found = find_executor_object(executor)
    found.replace_address(found.outputs, index, addr, "output")


@acl(HEADER, "aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr)")
def aclSetTensorAddr(executor: Handle, index: int, tensor: Handle, addr: DevicePointer) -> None:
    """Give the index-th tensor other memory: the inputs first, then the outputs."""
    _write_address(tensor, addr)
    found = find_executor_object(executor)
    found.replace_address(_flat(found), index, addr, "input or output")


_MEMBER = "aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex, aclTensorList* tensors, void* addr"


@acl(HEADER, f"aclnnStatus aclSetDynamicInputTensorAddr({_MEMBER})")
def aclSetDynamicInputTensorAddr(executor: Handle, irIndex: int, relativeIndex: int, tensors: Handle, addr: DevicePointer) -> None:
    """Give one member of the irIndex-th input parameter, a list, other memory."""
    _write_member_address(tensors, relativeIndex, addr)
    found = find_executor_object(executor)
    found.replace_member_address(found.inputs, irIndex, relativeIndex, addr, "input")


@acl(HEADER, f"aclnnStatus aclSetDynamicOutputTensorAddr({_MEMBER})")
def aclSetDynamicOutputTensorAddr(executor: Handle, irIndex: int, relativeIndex: int, tensors: Handle, addr: DevicePointer) -> None:
    """Give one member of the irIndex-th output parameter, a list, other memory."""
    _write_member_address(tensors, relativeIndex, addr)
    found = find_executor_object(executor)
    found.replace_member_address(found.outputs, irIndex, relativeIndex, addr, "output")


@acl(HEADER, f"aclnnStatus aclSetDynamicTensorAddr({_MEMBER})")
def aclSetDynamicTensorAddr(executor: Handle, irIndex: int, relativeIndex: int, tensors: Handle, addr: DevicePointer) -> None:
    """Give one member of the irIndex-th parameter other memory: inputs first, then outputs."""
    _write_member_address(tensors, relativeIndex, addr)
    found = find_executor_object(executor)
    found.replace_member_address(_flat(found), irIndex, relativeIndex, addr, "input or output")


# The same six once more, as some programs spell them.
AclSetInputTensorAddr = also_named("AclSetInputTensorAddr", aclSetInputTensorAddr)
AclSetOutputTensorAddr = also_named("AclSetOutputTensorAddr", aclSetOutputTensorAddr)
AclSetTensorAddr = also_named("AclSetTensorAddr", aclSetTensorAddr)
AclSetDynamicInputTensorAddr = also_named("AclSetDynamicInputTensorAddr", aclSetDynamicInputTensorAddr)
AclSetDynamicOutputTensorAddr = also_named("AclSetDynamicOutputTensorAddr", aclSetDynamicOutputTensorAddr)
AclSetDynamicTensorAddr = also_named("AclSetDynamicTensorAddr", aclSetDynamicTensorAddr)
