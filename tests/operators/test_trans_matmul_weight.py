"""aclnnTransMatmulWeight, aclnnCalculateMatmulWeightSize and aclnnCalculateMatmulWeightSizeV2, and products with such weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core import dtypes
from tests.conftest import message, run_python
from tests.operators.case import Array, Case, Meta, numbers

FLOAT16, BF16, INT8 = (np.dtype(kind) for kind in (np.float16, ml_dtypes.bfloat16, np.int8))
A2 = "Ascend910B1"
NAME = "aclnnTransMatmulWeight"


def size_of(shape: list[int] | None, dtype: int | None = None) -> tuple[int, int]:
    handle = None if shape is None else acl.aclCreateIntArray(shape)
    found = aclnnop.aclnnCalculateMatmulWeightSize(handle) if dtype is None else aclnnop.aclnnCalculateMatmulWeightSizeV2(handle, dtype)
    if handle is not None:
        acl.aclDestroyIntArray(handle)
    return found


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ([510, 510], None, 262144),
        ([510, 510], acl.ACL_FLOAT16, 262144),
        ([510, 510], acl.ACL_BF16, 262144),
        ([510, 270], acl.ACL_INT8, 147456),
        ([1, 1], acl.ACL_FLOAT16, 256),
        ([3, 2, 17, 16], acl.ACL_BF16, 6 * 32 * 16),
        ([1, 1, 1, 1, 16, 33], acl.ACL_INT8, 16 * 64),
    ],
)
def test_sizes(shape: list[int], dtype: int | None, size: int) -> None:
    assert size_of(shape, dtype) == (size, 0)


@pytest.mark.parametrize("dtype", [None, acl.ACL_FLOAT16])
def test_wrong_shapes(dtype: int | None) -> None:
    assert size_of(None, dtype) == (0, acl.ACLNN_ERR_PARAM_NULLPTR)
    for shape in ([], [5], [1] * 7, [4, 0], [0, 4], [-1, 4], [2**40, 2**40]):
        assert size_of(shape, dtype) == (0, acl.ACLNN_ERR_PARAM_INVALID), shape
        assert "tensorShape is" in message()


def test_wrong_types_and_chips(chip) -> None:
    for code in (acl.ACL_FLOAT, acl.ACL_INT4, 999, -1):
        assert size_of([16, 16], code) == (0, acl.ACLNN_ERR_PARAM_INVALID)
        assert "dataType is" in message()
    for soc, old, new in (
        ("Ascend950PR_9589", 0, 0),
        ("Ascend910_9391", 0, 0),
        ("Ascend310P3", 0, 0),
        ("Ascend910A", acl.ACLNN_ERR_INNER_NULLPTR, acl.ACLNN_ERR_RUNTIME_ERROR),
        ("Ascend310B1", acl.ACLNN_ERR_INNER_NULLPTR, acl.ACLNN_ERR_RUNTIME_ERROR),
    ):
        chip(soc)
        assert (size_of([16, 16])[1], size_of([16, 16], acl.ACL_INT8)[1]) == (old, new), soc


def blocks(matrix: Array) -> Array:
    """Element by element: the block of columns, the row, the column in the block."""
    *batch, rows, columns = matrix.shape
    width = 32 // matrix.dtype.itemsize
    height, across = -(-rows // 16) * 16, -(-columns // width)
    found = np.zeros((math.prod(batch), across * height * width), matrix.dtype)
    for n, one in enumerate(matrix.reshape(-1, rows, columns)):
        for row, column in np.ndindex(rows, columns):
            block = (column // width) * (height // 16) + row // 16
            found[n, (block * 16 + row % 16) * width + column % width] = one[row, column]
    return found.reshape(-1)


class Weight:
    """A matrix in device memory, with room for its blocks and not a byte more."""

    def __init__(self, matrix: Array) -> None:
        self.code = dtypes.from_numpy(matrix.dtype).code
        self.dtype = matrix.dtype
        self.count, status = size_of(list(matrix.shape), self.code)
        assert status == 0
        self.address, status = acl.aclrtMalloc(self.count * matrix.dtype.itemsize, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert status == 0
        self.upload(matrix)

    def upload(self, values: Array) -> None:
        assert acl.aclrtMemcpy(self.address, values.nbytes, np.ascontiguousarray(values), values.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0

    def now(self) -> Array:
        found = np.empty(self.count, self.dtype)
        assert acl.aclrtMemcpy(found, found.nbytes, self.address, found.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
        return found

    def tensor(self, shape: tuple[int, ...], strides: tuple[int, ...] | None, format: int) -> int:
        """Clients give the storage as one dimension of as many elements as the matrix has."""
        made = acl.aclCreateTensor(shape, self.code, strides, 0, format, (math.prod(shape),), self.address)
        assert made is not None
        return made


@pytest.fixture
def stream(device: int) -> Iterator[int]:
    made, status = acl.aclrtCreateStream()
    assert status == 0
    assert made is not None
    yield made
    assert acl.aclrtDestroyStream(made) == 0


def run(name: str, stream: int, *arguments: Any) -> None:
    declared = aclnnop.find(name)
    size, executor, status = declared.get_workspace_size(*arguments)
    assert status == 0, message()
    workspace = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)[0] if size else None
    assert declared.run(workspace, size, executor, stream) == acl.aclrtSynchronizeStream(stream) == 0, message()
    if workspace:
        acl.aclrtFree(workspace)


SHAPES = [(16, 16), (32, 48), (20, 37), (1, 1), (5, 3), (17, 64), (3, 20, 37), (2, 2, 16, 33)]


@pytest.mark.parametrize("dtype", [FLOAT16, BF16, INT8], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_blocks(shape: tuple[int, ...], dtype: np.dtype, stream: int) -> None:
    """The documented layout, byte by byte; the tensor says so from phase one on."""
    matrix = numbers(shape, dtype, 1, 30)
    weight = Weight(matrix)
    for _ in range(2):  # the second time the plan is known
        weight.upload(matrix)
        tensor = weight.tensor(shape, None, acl.ACL_FORMAT_ND)
        run(NAME, stream, tensor)
        assert weight.now().tobytes() == blocks(matrix).tobytes()
        assert acl.aclGetFormat(tensor) == (acl.ACL_FORMAT_FRACTAL_NZ, 0)
        assert acl.aclGetViewShape(tensor) == (list(shape), 0)
        assert math.prod(acl.aclGetStorageShape(tensor)[0]) == weight.count
        assert aclnnop.find(NAME).get_workspace_size(tensor)[2] == acl.ACLNN_ERR_PARAM_INVALID  # it is one already
        acl.aclDestroyTensor(tensor)
    acl.aclrtFree(weight.address)


def test_a_transposed_view_is_put_into_blocks_as_it_reads(stream: int) -> None:
    matrix = numbers((20, 37), FLOAT16, 1)
    weight = Weight(np.zeros((37, 20), FLOAT16))
    weight.upload(matrix)
    tensor = weight.tensor((37, 20), (1, 37), acl.ACL_FORMAT_ND)
    run(NAME, stream, tensor)
    assert weight.now().tobytes() == blocks(matrix.T).tobytes()
    acl.aclDestroyTensor(tensor)
    acl.aclrtFree(weight.address)


def put(array: Array) -> tuple[int, int]:
    address, status = acl.aclrtMalloc(max(array.nbytes, 1), acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert status == 0
    assert acl.aclrtMemcpy(address, array.nbytes, np.ascontiguousarray(array), array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    code = dtypes.from_numpy(array.dtype).code
    tensor = acl.aclCreateTensor(array.shape, code, None, 0, acl.ACL_FORMAT_ND, array.shape, address)
    assert address is not None
    assert tensor is not None
    return tensor, address


def product(stream: int, name: str, left: Array, mat2: int, shape: tuple[int, ...], mode: int = 2) -> Array:
    result = np.zeros(shape, left.dtype)
    (self, first), (out, last) = put(left), put(result)
    if name == "aclnnAddmm":
        one = acl.aclCreateScalar(np.float32(1), acl.ACL_FLOAT)
        run(name, stream, out, self, mat2, one, one, out, mode)
        acl.aclDestroyScalar(one)
    else:
        run(name, stream, self, mat2, out, mode)
    assert acl.aclrtMemcpy(result, result.nbytes, last, result.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    for tensor, address in ((self, first), (out, last)):
        acl.aclDestroyTensor(tensor)
        acl.aclrtFree(address)
    return result


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products(shape: tuple[int, ...], dtype: np.dtype, stream: int) -> None:
    """A weight [n, k], converted, and viewed as [k, n] with strides [1, k]: the product is that of the plain weight, to the bit."""
    *batch, n, k = shape
    matrix, left = numbers(shape, dtype, 1), numbers((*batch, 7, k), dtype, 2)
    transposed = (*batch, k, n)
    strides = (*(math.prod(shape[axis + 1 :]) for axis in range(len(batch))), 1, k)
    weight = Weight(matrix)
    names = ["aclnnMatmul"] if batch else ["aclnnMatmul", "aclnnMm", "aclnnAddmm"]
    plain = weight.tensor(transposed, strides, acl.ACL_FORMAT_ND)
    expected = [product(stream, name, left, plain, (*batch, 7, n)) for name in names]
    tensor = weight.tensor(shape, None, acl.ACL_FORMAT_ND)
    run(NAME, stream, tensor)
    viewed = weight.tensor(transposed, strides, acl.ACL_FORMAT_FRACTAL_NZ)
    assert [product(stream, name, left, viewed, (*batch, 7, n)).tobytes() for name in names] == [one.tobytes() for one in expected]
    # The converted tensor itself, as the document's program uses it.
    right = numbers((*batch, 7, n), dtype, 3)
    with np.errstate(all="ignore"):
        golden = right.astype(np.float64) @ matrix.astype(np.float64)
        terms = np.abs(right).astype(np.float64) @ np.abs(matrix).astype(np.float64)
    found = product(stream, names[0], right, tensor, (*batch, 7, k)).astype(np.float64)
    assert (np.abs(found - golden) <= terms * (2.0**-10 if dtype == FLOAT16 else 2.0**-7)).all()
    for each in (plain, tensor, viewed):
        acl.aclDestroyTensor(each)
    acl.aclrtFree(weight.address)


def test_refusals() -> None:
    assert Case(NAME, {"mmWeightRef": None}).status() == acl.ACLNN_ERR_PARAM_NULLPTR
    for wrong in (
        Meta((16,), FLOAT16),
        Meta((1,) * 7, FLOAT16),
        Meta((16, 0), FLOAT16),
        Meta((16, 16), np.float32),
        Meta((16, 16), FLOAT16, format=acl.ACL_FORMAT_FRACTAL_NZ),
    ):
        assert Case(NAME, {"mmWeightRef": wrong}).status() == acl.ACLNN_ERR_PARAM_INVALID, wrong
        assert "mmWeightRef" in message()


def test_blocks_need_contiguous_strides() -> None:
    x = Meta((16, 16), FLOAT16)
    for strides, status in (((16, 1), 0), ((1, 16), 0), ((32, 1), acl.ACLNN_ERR_PARAM_INVALID), ((1, 32), acl.ACLNN_ERR_PARAM_INVALID)):
        weight = Meta((16, 16), FLOAT16, strides, format=acl.ACL_FORMAT_FRACTAL_NZ)
        assert Case("aclnnMm", {"self": x, "mat2": weight, "out": x, "cubeMathType": 0}).status() == status
    blocked = Meta((16, 16), FLOAT16, format=acl.ACL_FORMAT_FRACTAL_NZ)
    for name in ("aclnnMm", "aclnnMatmul"):
        for parameter in ("self", "out"):
            case = Case(name, {"self": x, "mat2": x, "out": x, "cubeMathType": 0}).but(**{parameter: blocked})
            assert case.status() == acl.ACLNN_ERR_PARAM_INVALID
            assert f"{parameter} has format" in message()


_CHECKED = """
import acl_emu as acl, numpy as np
from tests.operators.test_trans_matmul_weight import Weight, run, product
acl.aclInit(None); acl.aclrtSetDevice(0)
stream = acl.aclrtCreateStream()[0]
weight = Weight(np.ones((20, 37), np.float16))
tensor = weight.tensor((20, 37), None, acl.ACL_FORMAT_ND)
run("aclnnTransMatmulWeight", stream, tensor)
viewed = weight.tensor((37, 20), (1, 37), acl.ACL_FORMAT_FRACTAL_NZ)
print(product(stream, "aclnnMm", np.ones((1, 37), np.float16), viewed, (1, 20))[0, 0])
for each in (tensor, viewed): acl.aclDestroyTensor(each)
acl.aclrtFree(weight.address); acl.aclrtDestroyStream(stream); acl.aclrtResetDevice(0); acl.aclFinalize()
"""


def test_the_checker_finds_nothing() -> None:
    """Blocks lie behind the storage that the tensor names, within the allocation."""
    done = run_python(_CHECKED, ACL_EMU_CHECK="1")
    assert (done.returncode, done.stdout) == (0, "37.0\n"), done.stderr
