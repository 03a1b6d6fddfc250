"""aclnnInplaceCopy, aclnnInplaceFillScalar, aclnnInplaceOne, aclnnInplaceZero, aclnnArange."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.case import Case, Meta
from tests.runtime.support import upload

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), BF16, np.dtype(np.float64)]
INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
TYPES = [*FLOATS, *INTEGERS, np.dtype(np.bool_), *COMPLEX]


def small(dtype: np.dtype[Any], count: int = 12) -> np.ndarray:
    """Numbers that every type holds: whole ones from 0 to 100, truth values."""
    return (np.arange(count) * 9 % 101).astype(dtype)


@pytest.mark.parametrize("source", TYPES, ids=str)
def test_copy_from_each_type_to_each(device, source):
    for target in TYPES:
        values = small(source)
        found = acl.call("aclnnInplaceCopy", np.zeros(values.shape, target), values)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            expected = (values != 0) if target == np.bool_ else values.astype(target)
        np.testing.assert_array_equal(found, expected, err_msg=f"{source} to {target}")


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.bool_, np.complex64])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (4, 1), (1, 5), (3, 4, 5), (3, 1, 1)])
def test_copy_broadcasts(device, dtype, shape):
    source = small(np.dtype(dtype), int(np.prod(shape, dtype=int)) or 1).reshape(shape)
    found = acl.call("aclnnInplaceCopy", np.zeros((3, 4, 5), dtype), source)
    np.testing.assert_array_equal(found, np.broadcast_to(source, (3, 4, 5)))


def test_copy_of_strided_views(device):
    for source, target in ((np.float32, np.float32), (np.float32, np.int32), (np.int64, np.float16), (np.float64, np.float32)):
        whole = small(np.dtype(source), 60).reshape(5, 12)
        room = np.zeros((12, 10), target)
        found = acl.call("aclnnInplaceCopy", room.T[::2, ::3], whole[:, ::3])
        np.testing.assert_array_equal(found, whole[:, ::3].astype(target))
        assert np.count_nonzero(room) == np.count_nonzero(whole[:, ::3])  # nothing between the elements


def test_copy_within_one_storage(device):
    address = upload(np.arange(12, dtype=np.float32))

    def view(offset: int) -> int | None:
        return acl.aclCreateTensor([8], acl.ACL_FLOAT, None, offset, acl.ACL_FORMAT_ND, [12], address)

    import aclnnop

    target, source = view(2), view(0)
    size, executor, ret = aclnnop.aclnnInplaceCopyGetWorkspaceSize(target, source)
    assert ret == 0
    assert aclnnop.aclnnInplaceCopy(None, size, executor, None) == 0
    assert acl.aclrtSynchronizeDevice() == 0
    found = np.empty(12, np.float32)
    assert acl.aclrtMemcpy(found, 48, address, 48, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    assert found.tolist() == [0, 1, *range(8), 10, 11]
    for tensor in (target, source):
        acl.aclDestroyTensor(tensor)
    acl.aclrtFree(address)


def test_copy_of_floats_that_are_none(device):
    values = np.array([np.nan, np.inf, -np.inf, 1e38, -2.9], np.float32)
    found = acl.call("aclnnInplaceCopy", np.zeros(5, np.int32), values)
    assert found.tolist() == [0, 2**31 - 1, -(2**31), 2**31 - 1, -2]
    half = acl.call("aclnnInplaceCopy", np.zeros(5, np.float16), values)
    np.testing.assert_array_equal(half[1:], np.array([np.inf, -np.inf, np.inf, -2.9], np.float16))
    assert np.isnan(half[0])


COPY = Case("aclnnInplaceCopy", {"selfRef": np.zeros((3, 4), np.float32), "src": np.zeros(4, np.float32)})


def test_copy_refuses(device, chip):
    assert COPY.but(selfRef=None).status() == ACLNN_ERR_PARAM_NULLPTR
    assert COPY.but(src=None).status() == ACLNN_ERR_PARAM_NULLPTR
    assert COPY.but(src=np.zeros(3, np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert "does not broadcast" in message()
    assert COPY.but(src=np.zeros((2, 3, 4), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert COPY.but(selfRef=np.zeros((1,) * 9, np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert COPY.but(selfRef=Meta((4,), acl.ACL_FLOAT8_E5M2)).status() == ACLNN_ERR_PARAM_INVALID
    chip("Ascend950PR_9589")
    assert COPY.but(selfRef=Meta((4,), acl.ACL_FLOAT8_E5M2)).status() == 0
    assert COPY.but(selfRef=Meta((4,), acl.ACL_FLOAT8_E5M2), src=np.zeros(4, np.int32)).status() == ACLNN_ERR_PARAM_INVALID
    assert "cannot be converted" in message()
    chip("Ascend910A")
    assert COPY.but(src=np.zeros(4, BF16)).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_fill(device, dtype):
    for value in (2.5, 7, True):
        found = acl.call("aclnnInplaceFillScalar", np.zeros((3, 5), dtype), value)
        np.testing.assert_array_equal(found, np.full((3, 5), bool(value) if dtype == np.bool_ else value).astype(dtype))


def test_fill_of_a_view(device):
    room = np.zeros((4, 6), np.float32)
    acl.call("aclnnInplaceFillScalar", room[::2, 1::2], 3.0)
    assert room.sum() == 3 * 6
    assert acl.call("aclnnInplaceFillScalar", np.zeros((0, 3), np.float32), 3.0).size == 0


@pytest.mark.parametrize("operator", ["aclnnInplaceOne", "aclnnInplaceZero"])
def test_ones_and_zeros(device, operator):
    listed = {"aclnnInplaceOne": [*FLOATS, *INTEGERS[:4], *INTEGERS[4:6]], "aclnnInplaceZero": [*FLOATS, *INTEGERS[:6], *COMPLEX]}[operator]
    for dtype in [*listed, np.dtype(np.bool_)]:
        found = acl.call(operator, small(dtype).reshape(3, 4)[:, ::2])
        np.testing.assert_array_equal(found, np.full((3, 2), operator == "aclnnInplaceOne").astype(dtype))
    case = Case(operator, {"selfRef": np.zeros(3, np.float32)})
    assert case.but(selfRef=None).status() == ACLNN_ERR_PARAM_NULLPTR
    assert case.but(selfRef=np.zeros(3, np.uint64)).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize("operator", ["aclnnInplaceFillScalar", "aclnnInplaceOne", "aclnnInplaceZero", "aclnnArange"])
def test_chips_without_them(device, chip, operator):
    chip("Ascend310B1")
    values: dict[str, Any] = {"selfRef": np.zeros(3, np.float32)}
    if operator == "aclnnInplaceFillScalar":
        values["value"] = 1.0
    if operator == "aclnnArange":
        values = {"start": 0, "end": 3, "step": 1, "out": np.zeros(3, np.float32)}
    assert Case(operator, values).status() == ACLNN_ERR_INNER_NULLPTR


@pytest.mark.parametrize(
    ("start", "end", "step"), [(0, 10, 1), (5, 0, -1), (1.0, 5.0, 1.0), (0.0, 1.0, 0.1), (-3, 4, 2), (2, 2.5, 0.125), (0, 1 << 14, 1 << 10)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16, np.float64, np.int32, np.int64], ids=str)
def test_arange(device, dtype, start, end, step):
    if np.dtype(dtype).kind == "i" and not all(float(number).is_integer() for number in (start, end, step)):
        return
    count = int(np.ceil((end - start) / step))
    scalars = [np.float64(number) if isinstance(number, float) else number for number in (start, end, step)]
    found = acl.call("aclnnArange", *scalars, np.zeros(count, dtype))
    np.testing.assert_array_equal(found, (start + step * np.arange(count)).astype(dtype))


def test_arange_refuses(device):
    case = Case("aclnnArange", {"start": 0, "end": 3, "step": 1, "out": np.zeros(3, np.float32)})
    for name in ("start", "end", "step", "out"):
        assert case.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    assert case.but(step=0).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(end=-3).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(step=-1).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(out=np.zeros(3, np.int8)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(end=0, out=np.zeros(0, np.float32)).status() == 0
