"""aclTensor, aclScalar, arrays and lists: making, asking, changing, destroying. None of it needs a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
from acl_emu.core import dtypes, handles
from acl_emu.runtime.tensor import BoolArray, FloatArray, IntArray, Scalar, ScalarList, TensorList
from tests.conftest import message
from tests.runtime.support import NO_HANDLE, in_thread, status

ND = acl.ACL_FORMAT_ND


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    before = handles.census()
    yield
    assert handles.census() == before


def make_tensor(
    shape: Sequence[int] | None = (2, 3),
    dtype: int = acl.ACL_FLOAT,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    format: int = ND,
    storage: Sequence[int] | None = (2, 3),
    address: int | None = None,
) -> int:
    tensor = acl.aclCreateTensor(shape, dtype, strides, offset, format, storage, address)  # type: ignore[arg-type]
    assert tensor is not None
    return tensor


def made(handle: int | None) -> int:
    assert handle is not None
    return handle


# Tensors


def test_tensor_says_what_it_was_told() -> None:
    tensor = make_tensor((2, 3), acl.ACL_BF16, (1, 2), 5, acl.ACL_FORMAT_NCHW, (4, 8, 2), 0xABC0)
    assert acl.aclGetViewShape(tensor) == ([2, 3], 0)
    assert acl.aclGetViewStrides(tensor) == ([1, 2], 0)
    assert acl.aclGetViewOffset(tensor) == (5, 0)
    assert acl.aclGetStorageShape(tensor) == ([4, 8, 2], 0)
    assert acl.aclGetFormat(tensor) == (acl.ACL_FORMAT_NCHW, 0)
    assert acl.aclGetDataType(tensor) == (acl.ACL_BF16, 0)
    assert acl.aclGetRawTensorAddr(tensor) == (0xABC0, 0)
    assert acl.aclDestroyTensor(tensor) == 0


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((), []), ((5,), [1]), ((2, 3, 4), [12, 4, 1]), ((2, 0, 4), [0, 4, 1]), ((1,) * 25, [1] * 25)],
)
def test_null_strides_are_row_major(shape: tuple[int, ...], strides: list[int]) -> None:
    tensor = make_tensor(shape, storage=shape)
    assert acl.aclGetViewStrides(tensor) == (strides, 0)
    assert acl.aclGetViewShape(tensor) == (list(shape), 0)
    assert acl.aclDestroyTensor(tensor) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (-1, 3)},
        {"dtype": 999},
        {"dtype": acl.ACL_DT_UNDEFINED},
        {"format": 999},
        {"format": acl.ACL_FORMAT_FRACTAL_NZ},
        {"strides": (-1, 100)},
        {"offset": -7},
        {"storage": (1,)},
        {"address": 3},
        {"address": None},
        {"shape": None},
        {"storage": None},
    ],
    ids=str,
)
def test_tensor_is_not_checked(change: dict[str, Any]) -> None:
    assert acl.aclDestroyTensor(make_tensor(**change)) == 0


def test_tensor_copies_its_metadata() -> None:
    shape, strides, storage = [2, 3], [3, 1], [6]
    tensor = make_tensor(shape, strides=strides, storage=storage)
    for values in (shape, strides, storage):
        values[0] = 99
    assert acl.aclGetViewShape(tensor) == ([2, 3], 0)
    assert acl.aclGetViewStrides(tensor) == ([3, 1], 0)
    assert acl.aclGetStorageShape(tensor) == ([6], 0)
    assert acl.aclDestroyTensor(tensor) == 0


def test_getters_give_copies() -> None:
    tensor = make_tensor()
    acl.aclGetViewShape(tensor)[0].append(7)
    assert acl.aclGetViewShape(tensor) == ([2, 3], 0)
    assert acl.aclDestroyTensor(tensor) == 0


def test_objects_need_no_device() -> None:
    assert in_thread(lambda: acl.aclDestroyTensor(make_tensor())) == 0


def test_init_overwrites() -> None:
    tensor = make_tensor((2, 3), strides=(1, 2), offset=5, address=0x40)
    assert acl.aclInitTensor(tensor, (4,), acl.ACL_INT8, None, 1, acl.ACL_FORMAT_NHWC, (9, 9), 0x80) == 0
    assert acl.aclGetViewShape(tensor) == ([4], 0)
    assert acl.aclGetViewStrides(tensor) == ([1], 0)
    assert acl.aclGetViewOffset(tensor) == (1, 0)
    assert acl.aclGetStorageShape(tensor) == ([9, 9], 0)
    assert acl.aclGetFormat(tensor) == (acl.ACL_FORMAT_NHWC, 0)
    assert acl.aclGetDataType(tensor) == (acl.ACL_INT8, 0)
    assert acl.aclGetRawTensorAddr(tensor) == (0x80, 0)
    assert acl.aclDestroyTensor(tensor) == 0


@pytest.mark.parametrize("empty", [None, (), np.zeros(0, np.int64)], ids=["null", "empty", "empty array"])
def test_init_keeps_what_is_null(empty: Any) -> None:
    tensor = make_tensor((2, 3), strides=(1, 2), storage=(7,), address=0x40)
    assert acl.aclInitTensor(tensor, empty, acl.ACL_INT8, None, 0, ND, empty, None) == 0
    assert acl.aclGetViewShape(tensor) == ([2, 3], 0)
    assert acl.aclGetViewStrides(tensor) == ([3, 1], 0)
    assert acl.aclGetStorageShape(tensor) == ([7], 0)
    assert acl.aclGetRawTensorAddr(tensor) == (0x40, 0)
    assert acl.aclDestroyTensor(tensor) == 0


def test_raw_address() -> None:
    tensor = make_tensor(offset=3)
    assert acl.aclGetRawTensorAddr(tensor) == (None, 0)
    assert acl.aclSetRawTensorAddr(tensor, 0x100) == 0
    assert acl.aclGetRawTensorAddr(tensor) == (0x100, 0)
    assert acl.aclSetRawTensorAddr(tensor, None) == acl.ACLNN_ERR_PARAM_NULLPTR == 161001
    assert "addr" in message()
    assert acl.aclGetRawTensorAddr(tensor) == (0x100, 0)
    assert acl.aclDestroyTensor(tensor) == 0


# Getters and setters, misused

_TENSOR_CALLS: dict[str, tuple[Callable[[int | None], object], tuple[object, ...]]] = {
    "aclGetViewShape": (acl.aclGetViewShape, ([],)),
    "aclGetViewStrides": (acl.aclGetViewStrides, ([],)),
    "aclGetStorageShape": (acl.aclGetStorageShape, ([],)),
    "aclGetViewOffset": (acl.aclGetViewOffset, (0,)),
    "aclGetFormat": (acl.aclGetFormat, (0,)),
    "aclGetDataType": (acl.aclGetDataType, (0,)),
    "aclGetRawTensorAddr": (acl.aclGetRawTensorAddr, (None,)),
    "aclSetRawTensorAddr": (lambda tensor: acl.aclSetRawTensorAddr(tensor, 1), ()),
    "aclInitTensor": (lambda tensor: acl.aclInitTensor(tensor, (1,), 0, None, 0, ND, (1,), None), ()),
    "aclGetIntArraySize": (acl.aclGetIntArraySize, (0,)),
    "aclGetFloatArraySize": (acl.aclGetFloatArraySize, (0,)),
    "aclGetBoolArraySize": (acl.aclGetBoolArraySize, (0,)),
    "aclGetTensorListSize": (acl.aclGetTensorListSize, (0,)),
    "aclGetScalarListSize": (acl.aclGetScalarListSize, (0,)),
}


@pytest.mark.parametrize("name", _TENSOR_CALLS)
def test_null_object(name: str) -> None:
    call, nothing = _TENSOR_CALLS[name]
    result = call(None)
    assert (result if isinstance(result, tuple) else (result,)) == (*nothing, acl.ACLNN_ERR_PARAM_NULLPTR)
    text = message()
    assert "must not be a null pointer" in text
    assert "EZ1001" in text


@pytest.mark.parametrize("name", _TENSOR_CALLS)
def test_dead_or_foreign_object(name: str) -> None:
    call, _ = _TENSOR_CALLS[name]
    dead, other = make_tensor(), made(acl.aclCreateScalar(1.0, acl.ACL_FLOAT))
    assert acl.aclDestroyTensor(dead) == 0
    for handle, what in ((dead, "destroyed"), (NO_HANDLE, "not a handle of this library"), (other, "a living aclScalar")):
        assert status(call(handle)) == acl.ACLNN_ERR_PARAM_INVALID == 161002
        text = message()
        assert what in text
        assert f"{handle:#x}" in text
    assert acl.aclDestroyScalar(other) == 0


# Destroying

_KINDS: dict[str, tuple[Callable[[], int | None], Callable[[int | None], int]]] = {
    "aclTensor": (make_tensor, acl.aclDestroyTensor),
    "aclScalar": (lambda: acl.aclCreateScalar(1.0, acl.ACL_FLOAT), acl.aclDestroyScalar),
    "aclIntArray": (lambda: acl.aclCreateIntArray([1]), acl.aclDestroyIntArray),
    "aclFloatArray": (lambda: acl.aclCreateFloatArray([1]), acl.aclDestroyFloatArray),
    "aclBoolArray": (lambda: acl.aclCreateBoolArray([True]), acl.aclDestroyBoolArray),
    "aclTensorList": (lambda: acl.aclCreateTensorList([]), acl.aclDestroyTensorList),
    "aclScalarList": (lambda: acl.aclCreateScalarList([]), acl.aclDestroyScalarList),
}


@pytest.mark.parametrize("kind", _KINDS)
def test_destroy_null(kind: str) -> None:
    assert _KINDS[kind][1](None) == 0


@pytest.mark.parametrize("kind", _KINDS)
def test_destroy_twice(kind: str) -> None:
    create, destroy = _KINDS[kind]
    handle = create()
    assert destroy(handle) == 0
    assert destroy(handle) == 161002
    text = message()
    assert "destroyed" in text
    assert kind in text


@pytest.mark.parametrize("kind", _KINDS)
def test_destroy_another_kind(kind: str) -> None:
    wrong = next(name for name in _KINDS if name != kind)
    handle = _KINDS[wrong][0]()
    assert _KINDS[kind][1](handle) == 161002
    assert f"a living {wrong}" in message()
    assert _KINDS[wrong][1](handle) == 0


def test_destroy_leaves_device_memory(device: int) -> None:
    address, _ = acl.aclrtMalloc(64, 0)
    assert acl.aclDestroyTensor(make_tensor(address=address)) == 0
    assert acl.aclrtFree(address) == 0


# Lists


def test_list_destroys_its_tensors() -> None:
    members = [make_tensor(), make_tensor()]
    made_list = acl.aclCreateTensorList(members)
    assert acl.aclGetTensorListSize(made_list) == (2, 0)
    assert acl.aclDestroyTensorList(made_list) == 0
    for member in members:
        assert acl.aclGetViewShape(member) == ([], 161002)


def test_list_destroys_its_scalars() -> None:
    members = [acl.aclCreateScalar(1.0, acl.ACL_FLOAT), acl.aclCreateScalar(2.0, acl.ACL_FLOAT)]
    made_list = acl.aclCreateScalarList(members)
    assert acl.aclGetScalarListSize(made_list) == (2, 0)
    assert acl.aclDestroyScalarList(made_list) == 0
    assert all(handles.find(member, Scalar) is None for member in members)


def test_member_destroyed_after_its_list_is_tolerated_once() -> None:
    member = make_tensor()
    assert acl.aclDestroyTensorList(acl.aclCreateTensorList([member])) == 0
    assert acl.aclDestroyTensor(member) == 0
    assert acl.aclDestroyTensor(member) == 161002


def test_member_destroyed_before_its_list_is_tolerated() -> None:
    member = make_tensor()
    made_list = acl.aclCreateTensorList([member])
    assert acl.aclDestroyTensor(member) == 0
    assert acl.aclDestroyTensorList(made_list) == 0


def test_list_copies_the_pointers_only() -> None:
    member = make_tensor(address=0x40)
    pointers = [member, None]
    made_list = made(acl.aclCreateTensorList(pointers))
    pointers[0] = None
    acl.aclSetRawTensorAddr(member, 0x80)
    found = handles.find(made_list, TensorList)
    assert found is not None
    assert found.members == (member, None)
    first, second = found.tensors
    assert second is None
    assert first is not None
    assert first.address == 0x80
    assert acl.aclDestroyTensorList(made_list) == 0


@pytest.mark.parametrize("members", [None, []])
def test_empty_lists(members: list[int] | None) -> None:
    tensors, scalars = acl.aclCreateTensorList(members), acl.aclCreateScalarList(members)
    assert acl.aclGetTensorListSize(tensors) == (0, 0)
    assert acl.aclGetScalarListSize(scalars) == (0, 0)
    assert acl.aclDestroyTensorList(tensors) == 0
    assert acl.aclDestroyScalarList(scalars) == 0


def test_null_members() -> None:
    tensors, scalars = acl.aclCreateTensorList([None, None]), made(acl.aclCreateScalarList([None]))
    assert acl.aclGetTensorListSize(tensors) == (2, 0)
    assert acl.aclGetScalarListSize(scalars) == (1, 0)
    found = handles.find(scalars, ScalarList)
    assert found is not None
    assert found.scalars == (None,)
    assert acl.aclDestroyTensorList(tensors) == 0
    assert acl.aclDestroyScalarList(scalars) == 0


# Arrays


@pytest.mark.parametrize("values", [None, [], [1, -2, 1 << 40]])
def test_int_array(values: list[int] | None) -> None:
    array = made(acl.aclCreateIntArray(values))
    assert acl.aclGetIntArraySize(array) == (len(values or []), 0)
    found = handles.find(array, IntArray)
    assert found is not None
    assert list(found.values) == (values or [])
    assert acl.aclDestroyIntArray(array) == 0


@pytest.mark.parametrize("values", [None, [], [0.1, -2.0]])
def test_float_array_is_single_precision(values: list[float] | None) -> None:
    array = made(acl.aclCreateFloatArray(values))
    assert acl.aclGetFloatArraySize(array) == (len(values or []), 0)
    found = handles.find(array, FloatArray)
    assert found is not None
    assert list(found.values) == np.array(values or [], np.float32).tolist()
    assert acl.aclDestroyFloatArray(array) == 0


@pytest.mark.parametrize("values", [None, [], [True, False, 2]])
def test_bool_array(values: list[bool] | None) -> None:
    array = made(acl.aclCreateBoolArray(values))
    assert acl.aclGetBoolArraySize(array) == (len(values or []), 0)
    found = handles.find(array, BoolArray)
    assert found is not None
    assert list(found.values) == [bool(value) for value in values or []]
    assert acl.aclDestroyBoolArray(array) == 0


def test_arrays_copy_their_values() -> None:
    values = [1, 2]
    array = made(acl.aclCreateIntArray(values))
    values[0] = 9
    found = handles.find(array, IntArray)
    assert found is not None
    assert found.values == (1, 2)
    assert acl.aclDestroyIntArray(array) == 0


# Scalars


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (acl.ACL_FLOAT, np.float32(1.5)),
        (acl.ACL_FLOAT16, np.float16(1.5)),
        (acl.ACL_BF16, ml_dtypes.bfloat16(1.5)),
        (acl.ACL_DOUBLE, np.float64(0.1)),
        (acl.ACL_INT8, np.int8(-3)),
        (acl.ACL_INT16, np.int16(-3)),
        (acl.ACL_INT32, np.int32(-3)),
        (acl.ACL_INT64, np.int64(1 << 40)),
        (acl.ACL_UINT8, np.uint8(200)),
        (acl.ACL_UINT16, np.uint16(200)),
        (acl.ACL_UINT32, np.uint32(200)),
        (acl.ACL_UINT64, np.uint64(1 << 63)),
        (acl.ACL_BOOL, np.bool_(True)),
        (acl.ACL_COMPLEX64, np.complex64(1 + 2j)),
        (acl.ACL_COMPLEX128, np.complex128(1 + 2j)),
    ],
)
def test_scalar_of_every_type(dtype: int, value: Any) -> None:
    """From a buffer as C programs have it, from its address, and from the number itself."""
    buffer = np.array(value)
    for source in (buffer, int(buffer.ctypes.data), bytearray(buffer.tobytes()), value):
        scalar = made(acl.aclCreateScalar(source, dtype))
        found = handles.find(scalar, Scalar)
        assert found is not None
        assert found.dtype.code == dtype
        assert found.value == value
        assert acl.aclDestroyScalar(scalar) == 0


def test_scalar_copies_its_value() -> None:
    buffer = np.ones(1, np.float32)
    scalar = made(acl.aclCreateScalar(buffer, acl.ACL_FLOAT))
    buffer[0] = 5
    found = handles.find(scalar, Scalar)
    assert found is not None
    assert found.value == 1
    assert acl.aclDestroyScalar(scalar) == 0


@pytest.mark.parametrize("dtype", [acl.ACL_STRING, acl.ACL_INT4, acl.ACL_UINT1, acl.ACL_COMPLEX32, acl.ACL_DT_UNDEFINED, 999])
def test_type_without_scalars(dtype: int) -> None:
    assert acl.aclCreateScalar(np.zeros(4), dtype) is None
    text = message()
    assert "EZ1006" in text
    assert dtypes.dtype_name(dtype) in text


@pytest.mark.parametrize("value", [None, 0])
def test_scalar_of_null(value: int | None) -> None:
    assert acl.aclCreateScalar(value, acl.ACL_FLOAT) is None
    assert "value must not be a null pointer" in message()


def test_scalar_from_a_buffer_that_is_too_short() -> None:
    with pytest.raises(ValueError, match="value must hold 8 bytes, got a buffer of 4"):
        acl.aclCreateScalar(np.ones(1, np.float32), acl.ACL_DOUBLE)


def test_scalar_from_memory_that_does_not_exist() -> None:
    assert acl.aclCreateScalar(0x1000, acl.ACL_FLOAT) is None
    assert "0x1000" in message()


@pytest.mark.parametrize(
    ("dtype", "value", "truth"),
    [
        (acl.ACL_FLOAT, 0.0, False),
        (acl.ACL_FLOAT, float(np.finfo(np.float32).eps), True),
        (acl.ACL_FLOAT, float(np.finfo(np.float32).eps) / 2, False),
        (acl.ACL_FLOAT, -1.0, True),
        (acl.ACL_DOUBLE, 1e-15, True),
        (acl.ACL_DOUBLE, 1e-17, False),
        (acl.ACL_INT32, np.int32(0), False),
        (acl.ACL_INT32, np.int32(-1), True),
        (acl.ACL_BOOL, True, True),
    ],
)
def test_truth_of_a_scalar(dtype: int, value: Any, truth: bool) -> None:
    scalar = made(acl.aclCreateScalar(value, dtype))
    found = handles.find(scalar, Scalar)
    assert found is not None
    assert found.as_bool() is truth
    assert acl.aclDestroyScalar(scalar) == 0
