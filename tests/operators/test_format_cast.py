"""aclnnNpuFormatCast and aclnnNpuFormatCastCalculateSizeAndFormat."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_RUNTIME_ERROR
from acl_emu.core.dtypes import from_numpy
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.raw import Raw, run_raw

ND, NZ, NCL, NCHW, NHWC, HWCN, NCDHW, NDHWC = 2, 29, 47, 0, 1, 16, 30, 27
DHWCN = 31  # the headers have no name for it
NC1HWC0, FRACTAL_Z, NDC1HWC0, FRACTAL_Z_3D, C0_16, C0_32 = 3, 4, 32, 33, 50, 51
NEWEST = "Ascend950PR_9589"
ORDER = {ND: "NC", NCL: "NCL", NCHW: "NCHW", NHWC: "NHWC", HWCN: "HWCN", NCDHW: "NCDHW", NDHWC: "NDHWC", DHWCN: "DHWCN"}


def sizes(shape: tuple[int, ...], code: int, source: int, target: int, additional: int) -> tuple[list[int] | int, int, int, int]:
    tensor = acl.aclCreateTensor(shape, code, None, 0, source, shape, None)
    found = aclnnop.aclnnNpuFormatCastCalculateSizeAndFormat(tensor, target, additional)
    acl.aclDestroyTensor(tensor)
    return found


def place(axes: dict[str, int], lengths: dict[str, int], private: int, c0: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where an element is, and the storage shape, by the definition of a format."""
    c1, n1 = -(-lengths["C"] // c0), -(-lengths["N"] // 16)
    n, c, d, h, w = (axes.get(axis, 0) for axis in "NCDHW")
    depth, height, width = (lengths.get(axis, 1) for axis in "DHW")
    if private == NC1HWC0:
        return (n, c // c0, h, w, c % c0), (lengths["N"], c1, height, width, c0)
    if private == NDC1HWC0:
        return (n, d, c // c0, h, w, c % c0), (lengths["N"], depth, c1, height, width, c0)
    first = ((d * c1 + c // c0) * height + h) * width + w
    return (first, n // 16, n % 16, c % c0), (depth * c1 * height * width, n1, 16, c0)


def by_definition(values: Array, plain: int, private: int, c0: int) -> Array:
    if private in (NZ, C0_16, C0_32):
        *batch, rows, columns = values.shape
        stored = np.zeros((*batch, -(-columns // c0), -(-rows // 16), 16, c0), values.dtype)
        for index in np.ndindex(values.shape):
            *outer, row, column = index
            stored[(*outer, column // c0, row // 16, row % 16, column % c0)] = values[index]
        return stored
    lengths = dict(zip(ORDER[plain], values.shape, strict=True))
    stored = np.zeros(place(dict.fromkeys("NCDHW", 0), lengths, private, c0)[1], values.dtype)
    for index in np.ndindex(values.shape):
        stored[place(dict(zip(ORDER[plain], index, strict=True)), lengths, private, c0)[0]] = values[index]
    return stored


CASTS = [
    ((20, 40), ND, NZ),
    ((2, 3, 17, 5), ND, NZ),
    ((3, 20, 7), NCL, NZ),
    ((2, 3, 18, 20), NCHW, NZ),
    ((1, 2, 3, 18, 20), NCDHW, NZ),
    ((3, 20, 4, 5), NCHW, NC1HWC0),
    ((3, 4, 5, 20), NHWC, NC1HWC0),
    ((18, 20, 2, 3), NCHW, FRACTAL_Z),
    ((2, 3, 20, 18), HWCN, FRACTAL_Z),
    ((2, 20, 3, 2, 4), NCDHW, NDC1HWC0),
    ((2, 3, 2, 4, 20), NDHWC, NDC1HWC0),
    ((18, 5, 2, 3, 2), NCDHW, FRACTAL_Z_3D),
    ((2, 3, 2, 5, 18), DHWCN, FRACTAL_Z_3D),
]


@pytest.mark.parametrize(("shape", "plain", "private"), CASTS, ids=str)
@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.float32, np.uint32], ids=lambda dtype: dtype.__name__)
def test_there_and_back(shape: tuple[int, ...], plain: int, private: int, dtype: Any, device: int) -> None:
    values = numbers(shape, dtype, 1, 50)
    code, c0 = from_numpy(values.dtype).code, 32 // values.dtype.itemsize
    stored = by_definition(values, plain, private, c0)
    assert sizes(shape, code, plain, private, -1) == (list(stored.shape), stored.ndim, private, 0)
    ordinary = Raw(values, shape, code, None, plain, shape)
    blocks = Raw(np.full_like(stored, 1), shape, code, None, private, stored.shape)
    status, found = run_raw("aclnnNpuFormatCast", srcTensor=ordinary, dstTensor=blocks)
    assert status == 0
    np.testing.assert_array_equal(found["dstTensor"], stored)
    back = ordinary._replace(memory=np.zeros_like(values))
    status, found = run_raw("aclnnNpuFormatCast", srcTensor=blocks._replace(memory=stored), dstTensor=back)
    assert status == 0
    np.testing.assert_array_equal(found["dstTensor"], values)


def test_blocks_as_wide_as_another_type(device: int) -> None:
    values = numbers((20, 40), np.float32, 1)
    assert sizes((20, 40), acl.ACL_FLOAT, ND, NZ, acl.ACL_FLOAT16) == ([3, 2, 16, 16], 4, NZ, 0)
    stored = by_definition(values, ND, NZ, 16)
    blocks = Raw(np.zeros_like(stored), (20, 40), acl.ACL_FLOAT, None, NZ, stored.shape)
    status, found = run_raw("aclnnNpuFormatCast", srcTensor=Raw(values, (20, 40), acl.ACL_FLOAT), dstTensor=blocks)
    assert status == 0
    np.testing.assert_array_equal(found["dstTensor"], stored)


NEW = [
    (acl.ACL_INT8, acl.ACL_INT8, NZ, 32),
    (acl.ACL_INT32, acl.ACL_BF16, C0_16, 16),
    (acl.ACL_FLOAT, acl.ACL_FLOAT16, C0_16, 16),
    (acl.ACL_FLOAT, acl.ACL_FLOAT8_E4M3FN, C0_32, 32),
    (acl.ACL_FLOAT16, acl.ACL_FLOAT16, NZ, 16),
    (acl.ACL_BF16, -1, NZ, 16),
    (acl.ACL_FLOAT8_E4M3FN, acl.ACL_FLOAT8_E4M3FN, NZ, 32),
    (acl.ACL_FLOAT4_E2M1, acl.ACL_FLOAT8_E4M3FN, NZ, 32),
    (acl.ACL_FLOAT4_E2M1, acl.ACL_FLOAT4_E2M1, NZ, 64),
    (acl.ACL_FLOAT4_E1M2, acl.ACL_FLOAT4_E1M2, NZ, 64),
    (acl.ACL_HIFLOAT8, acl.ACL_HIFLOAT8, NZ, 32),
]


@pytest.mark.parametrize(("code", "additional", "form", "c0"), NEW)
def test_formats_of_the_newest_chip(code: int, additional: int, form: int, c0: int, chip: Any, device: int) -> None:
    chip(NEWEST)
    shape = (18, 70)
    storage = [-(-70 // c0), 2, 16, c0]
    assert sizes(shape, code, ND, NZ, additional) == (storage, 4, form, 0)
    bits = {acl.ACL_FLOAT4_E2M1: 4, acl.ACL_FLOAT4_E1M2: 4, acl.ACL_INT8: 8, acl.ACL_FLOAT8_E4M3FN: 8, acl.ACL_HIFLOAT8: 8}.get(
        code, 32 if code in (acl.ACL_INT32, acl.ACL_FLOAT) else 16
    )
    dtype = np.dtype(f"u{max(bits, 8) // 8}")
    elements = np.random.default_rng(1).integers(0, 2 ** min(bits, 31), shape).astype(dtype)
    stored = by_definition(elements, ND, NZ, c0)

    def in_memory(array: Array) -> Array:
        flat = array.reshape(-1)
        return flat[::2] | flat[1::2] << 4 if bits == 4 else flat

    blocks = Raw(np.zeros_like(in_memory(stored)), shape, code, None, form, storage)
    status, found = run_raw("aclnnNpuFormatCast", srcTensor=Raw(in_memory(elements), shape, code, None, ND, shape), dstTensor=blocks)
    assert status == 0
    np.testing.assert_array_equal(found["dstTensor"], in_memory(stored))


def test_a_weight_is_ready_for_a_product(device: int) -> None:
    weight, x = numbers((40, 24), ml_dtypes.bfloat16, 1), numbers((3, 40), ml_dtypes.bfloat16, 2)
    stored = by_definition(weight, ND, NZ, 16)
    blocks = Raw(np.zeros_like(stored), (40, 24), acl.ACL_BF16, None, NZ, stored.shape)
    _, found = run_raw("aclnnNpuFormatCast", srcTensor=Raw(weight, (40, 24), acl.ACL_BF16), dstTensor=blocks)
    status, product = run_raw(
        "aclnnMatmulWeightNz",
        self=Raw(x, (3, 40), acl.ACL_BF16),
        mat2=blocks._replace(memory=found["dstTensor"]),
        out=Raw(np.zeros((3, 24), np.float32), (3, 24), acl.ACL_FLOAT),
        cubeMathType=0,
    )
    assert status == 0
    np.testing.assert_allclose(product["out"], x.astype(np.float64) @ weight.astype(np.float64), rtol=1e-4, atol=1e-4)


WRONG_SIZES = [
    ((2, 3), acl.ACL_DOUBLE, ND, NZ, -1, ACLNN_ERR_PARAM_INVALID),
    ((2, 3), acl.ACL_FLOAT8_E4M3FN, ND, NZ, -1, ACLNN_ERR_PARAM_INVALID),
    ((2, 3), acl.ACL_FLOAT, 77, NZ, -1, ACLNN_ERR_PARAM_INVALID),
    ((2, 3), acl.ACL_FLOAT, ND, 77, -1, ACLNN_ERR_PARAM_INVALID),
    ((2, 3), acl.ACL_FLOAT, ND, 12, -1, ACLNN_ERR_PARAM_INVALID),
    ((2, 3), acl.ACL_FLOAT, ND, NZ, acl.ACL_DOUBLE, ACLNN_ERR_PARAM_INVALID),
    ((2, 3), acl.ACL_FLOAT, ND, NZ, -2, ACLNN_ERR_PARAM_INVALID),
    ((3,), acl.ACL_FLOAT, ND, NZ, -1, ACLNN_ERR_PARAM_INVALID),
    ((1,) * 7, acl.ACL_FLOAT, ND, NZ, -1, ACLNN_ERR_PARAM_INVALID),
    ((2, 0), acl.ACL_FLOAT, ND, NZ, -1, ACLNN_ERR_PARAM_INVALID),
    ((2, 3), acl.ACL_FLOAT, ND, NC1HWC0, -1, ACLNN_ERR_RUNTIME_ERROR),
    ((2, 3), acl.ACL_FLOAT, ND, ND, -1, ACLNN_ERR_RUNTIME_ERROR),
    ((2, 3, 4, 5), acl.ACL_FLOAT, NHWC, NZ, -1, ACLNN_ERR_RUNTIME_ERROR),
]


@pytest.mark.parametrize(("shape", "code", "source", "target", "additional", "status"), WRONG_SIZES)
def test_wrong_sizes(shape: tuple[int, ...], code: int, source: int, target: int, additional: int, status: int) -> None:
    assert sizes(shape, code, source, target, additional)[3] == status


F = np.dtype(np.float32)
CAST = Case("aclnnNpuFormatCast", {"srcTensor": Meta((5, 7), F), "dstTensor": Meta((5, 7), F, format=NZ, storage=(1, 1, 16, 8))})


@pytest.mark.parametrize(
    "changes",
    [
        {"srcTensor": Meta((5, 7), np.int64)},
        {"dstTensor": Meta((5, 7), np.float16, format=NZ)},
        {"dstTensor": Meta((5, 7), F, format=12)},
        {"srcTensor": Meta((5, 7), F, strides=(8, 1))},
        {"dstTensor": Meta((5, 6), F, format=NZ)},
        {"dstTensor": Meta((5, 7), F, format=NC1HWC0)},
        {"srcTensor": Meta((35,), F)},
        {"srcTensor": Meta((1,) * 7, F)},
        {"srcTensor": Meta((0, 7), F), "dstTensor": Meta((0, 7), F, format=NZ)},
    ],
    ids=str,
)
def test_parameter_errors(changes: dict[str, Any]) -> None:
    assert CAST.status() == 0
    assert CAST.but(**changes).status() == ACLNN_ERR_PARAM_INVALID


def test_null_pointers_and_products(chip: Any) -> None:
    assert CAST.but(srcTensor=None).status() == CAST.but(dstTensor=None).status() == ACLNN_ERR_PARAM_NULLPTR
    assert aclnnop.aclnnNpuFormatCastCalculateSizeAndFormat(None, NZ, -1)[3] == ACLNN_ERR_PARAM_NULLPTR
    for soc in ("Ascend310P3", "Ascend910A", "Ascend310B1"):
        chip(soc)
        assert CAST.status() == sizes((5, 7), acl.ACL_FLOAT, ND, NZ, -1)[3] == ACLNN_ERR_RUNTIME_ERROR
    chip(NEWEST)
    assert sizes((5, 7), acl.ACL_FLOAT16, ND, NZ, acl.ACL_INT8)[3] == ACLNN_ERR_PARAM_INVALID
    assert sizes((2, 3, 4, 5), acl.ACL_FLOAT16, NCHW, NC1HWC0, -1)[3] == ACLNN_ERR_RUNTIME_ERROR
    assert math.prod(CAST.arguments["dstTensor"].storage) == 128
