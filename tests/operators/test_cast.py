"""aclnnCast."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu import (
    ACL_COMPLEX32,
    ACL_FLOAT,
    ACL_FLOAT4_E1M2,
    ACL_FLOAT4_E2M1,
    ACL_FLOAT8_E4M3FN,
    ACL_FLOAT8_E5M2,
    ACL_FLOAT16,
    ACL_FORMAT_NCHW,
    ACL_HIFLOAT8,
    ACL_INT4,
    ACL_INT32,
    ACLNN_ERR_INNER_NULLPTR,
    ACLNN_ERR_INNER_TILING_ERROR,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_PARAM_NULLPTR,
)
from acl_emu.core import dtypes
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_equal, rounded
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts, shapes

NEWEST = "Ascend950PR_9589"
DOUBLE, BOOL = np.dtype(np.float64), np.dtype(np.bool_)
INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
TYPES = [*FLOATS, DOUBLE, *INTEGERS, BOOL, *COMPLEX]


def code_of(dtype: Any) -> int:
    return dtype if isinstance(dtype, int) else dtypes.from_numpy(np.dtype(dtype)).code


def cast(x: Any, out: Any, code: int | None = None) -> Case:
    return Case("aclnnCast", {"self": x, "dtype": code_of(out.dtype) if code is None else code, "out": out})


def golden(value: Any, out: np.dtype) -> Any:
    """One number in another type."""
    value = value.item() if hasattr(value, "item") else value
    if out == BOOL:
        return value != 0
    if out in COMPLEX:
        return value
    value = value.real if isinstance(value, complex) else value
    if out not in INTEGERS:
        return value
    if isinstance(value, float):
        value = 0 if math.isnan(value) else value
        low, high = (-(2**31), 2**31 - 1) if out.itemsize < 4 else (np.iinfo(out).min, np.iinfo(out).max)
        value = low if value < low else high if value > high else int(value)
    return (value - np.iinfo(out).min) % 2 ** (8 * out.itemsize) + np.iinfo(out).min


def assert_right(x: Array, result: Array) -> None:
    out = result.dtype
    expected = [golden(value if x.dtype != BF16 else float(value), out) for value in x.ravel()]
    if out in FLOATS:
        assert_equal(result.ravel(), rounded(np.array(expected, np.float64), out))
    else:
        np.testing.assert_array_equal(result.ravel(), np.array(expected, out))


def inputs(shape: tuple[int, ...], dtype: np.dtype, seed: int) -> Array:
    rng = np.random.default_rng((seed, *shape))
    if dtype == BOOL:
        return rng.random(shape) > 0.5
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        small = rng.integers(max(info.min, -200) if info.min else 0, min(info.max, 200), shape, dtype)
        return np.where(rng.random(shape) > 0.5, small, rng.integers(info.min, info.max, shape, dtype, endpoint=True))
    x = rng.standard_normal(shape) * np.exp(rng.uniform(-5, 12, shape)) + (1j * rng.standard_normal(shape) if dtype in COMPLEX else 0)
    with np.errstate(over="ignore"):
        return np.asarray(x).astype(dtype)


def test_documented_sample(device: int) -> None:
    x = np.array([0.1, 1.1, 2.1, 3.1, 4.1, 5.1, 6.1, 7.1], np.float32).reshape(4, 2)
    assert cast(x, np.zeros((4, 2))).run().tolist() == x.astype(np.float64).tolist()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("out", TYPES, ids=str)
def test_every_pair_of_types(dtype: np.dtype, out: np.dtype, device: int) -> None:
    x = inputs((60,), dtype, 1)
    if dtype.itemsize == 8 and dtype in INTEGERS and out in FLOATS:
        x = x % 2**50  # beyond that, an exact reference would not fit float64
    assert_right(x, cast(x, np.zeros(60, out)).run())


@given(st.data())
def test_layouts(device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(least=0))
    x = inputs(shape, data.draw(st.sampled_from(FLOATS)), data.draw(st.integers(0, 99)))
    assert_right(x, cast(x, np.zeros(shape, data.draw(st.sampled_from(TYPES)))).run(data.draw(layouts)))


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE], ids=str)
@pytest.mark.parametrize("out", [*INTEGERS, BOOL], ids=str)
def test_limits(dtype: np.dtype, out: np.dtype, device: int) -> None:
    """NaN becomes 0, or true; what is too large saturates."""
    values = [math.nan, math.inf, -math.inf, -0.0, 0.9, -0.9, 2.5, -2.5, 300, -300, 2.0**31, -(2.0**31), 2.0**63, 2.0**64, -1e30]
    with np.errstate(over="ignore"):
        x = np.array(values).astype(dtype)
    assert_right(x, cast(x, np.zeros(x.size, out)).run())


def test_halves_are_rounded_once(device: int) -> None:
    """A number just above the middle of two halves is not rounded to the middle first."""
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40])
    assert cast(x[:1], np.zeros(1, FLOAT16)).run()[0] == 1 + 2.0**-10
    assert cast(x[1:], np.zeros(1, BF16)).run()[0] == 1 + 2.0**-7


@pytest.mark.parametrize("shape", [(), (1,) * 8, (0,), (2, 0)], ids=str)
def test_ranks_and_empty_tensors(shape: tuple[int, ...], device: int) -> None:
    case = cast(inputs(shape, FLOAT, 1), np.zeros(shape, np.int64))
    assert_right(case.arguments["self"], case.run(3))
    assert case.plan() == (0, 0)


ERRORS = [
    ({"self": Meta((2, 3), ACL_HIFLOAT8)}, "self"),
    ({"self": Meta((2, 3), ACL_COMPLEX32)}, "self"),
    ({"out": Meta((2, 3), ACL_INT4)}, "out"),
    ({"dtype": ACL_INT4}, "dtype"),
    ({"dtype": 999}, "dtype"),
    ({"dtype": ACL_FLOAT16}, "dtype"),
    ({"out": Meta((2, 3), np.int32, format=ACL_FORMAT_NCHW)}, "out"),
    ({"out": Meta((3, 2), np.int32)}, "out"),
    ({"self": Meta((1,) * 9, FLOAT)}, "self"),
    ({"self": Meta((2, 3), BOOL, strides=(1, 2))}, "self"),
    ({"self": Meta((2, 3), np.complex64, strides=(6, 2))}, "self"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(changes: dict, named: str) -> None:
    case = cast(Meta((2, 3), FLOAT), Meta((2, 3), np.int32)).but(**changes)
    assert case.status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()
    for null in ("self", "out"):
        assert case.but(**{null: None}).status() == ACLNN_ERR_PARAM_NULLPTR


def test_products(chip) -> None:
    for soc in (NEWEST, "Ascend910_9391", "Ascend910B1", "Ascend310P3", "Ascend910A", "Ascend310B1"):
        chip(soc)
        assert cast(Meta((2,), FLOAT), Meta((2,), FLOAT16)).status() == (ACLNN_ERR_INNER_NULLPTR if soc == "Ascend310B1" else 0)
        if soc in ("Ascend310P3", "Ascend910A"):
            assert cast(Meta((2,), FLOAT), Meta((2,), BF16)).status() == ACLNN_ERR_PARAM_INVALID
        if soc != NEWEST:
            assert cast(Meta((2,), FLOAT), Meta((2,), ACL_FLOAT8_E5M2)).status() == ACLNN_ERR_PARAM_INVALID


def run_bits(source: Array, code: int, out: Array, out_code: int, shape: tuple[int, ...]) -> Array:
    """A cast of contiguous tensors whose memory is given as it lies there."""
    with ExitStack() as stack:
        tensors, addresses = [], []
        for block, kind in ((source, code), (out, out_code)):
            address, status = acl.aclrtMalloc(block.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
            assert status == acl.aclrtMemcpy(address, block.nbytes, block, block.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
            stack.callback(acl.aclrtFree, address)
            addresses.append(address)
            tensors.append(acl.aclCreateTensor(shape, kind, None, 0, acl.ACL_FORMAT_ND, shape, address))
            stack.callback(acl.aclDestroyTensor, tensors[-1])
        size, executor, status = aclnnop.find("aclnnCast").get_workspace_size(tensors[0], out_code, tensors[1])
        assert (size, status) == (0, 0), message()
        stream, _ = acl.aclrtCreateStream()
        stack.callback(acl.aclrtDestroyStream, stream)
        assert aclnnop.find("aclnnCast").run(None, 0, executor, stream) == acl.aclrtSynchronizeStream(stream) == 0
        result = np.empty_like(out)
        assert acl.aclrtMemcpy(result, result.nbytes, addresses[1], result.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
        return result


def floats_of(codes: Any, code: int, shape: tuple[int, ...]) -> list[float]:
    return run_bits(np.array(codes, np.uint8), code, np.zeros(shape, np.float32), ACL_FLOAT, shape).ravel().tolist()


def codes_of(values: Any, code: int, count: int, dtype: Any = np.float32) -> list[int]:
    values = np.array(values, dtype)
    return run_bits(values, code_of(dtype), np.zeros(count, np.uint8), code, values.shape).tolist()


def test_hifloat8(chip, device: int) -> None:
    """Known codes, every number back to itself, ties away from zero."""
    chip(NEWEST)
    known = {
        0x00: 0.0,
        0x01: 2.0**-22,
        0x07: 2.0**-16,
        0x08: 1.0,
        0x0F: 1.875,
        0x10: 2.0,
        0x18: 0.5,
        0x20: 4.0,
        0x6E: 2.0**15,
        0x6F: math.inf,
        0x88: -1.0,
    }
    assert floats_of(list(known), ACL_HIFLOAT8, (len(known),)) == list(known.values())
    values = floats_of(range(256), ACL_HIFLOAT8, (256,))
    assert math.isnan(values[0x80])
    assert len(set(values)) == 256
    assert codes_of(values, ACL_HIFLOAT8, 256) == list(range(256))
    assert codes_of([1.0625, -1.0625, 1.06, 1e9, -1e9, 2.0**-23, 2.0**-24, -0.0], ACL_HIFLOAT8, 8) == [
        0x09,
        0x89,
        0x08,
        0x6F,
        0xEF,
        1,
        0,
        0,
    ]


@pytest.mark.parametrize(("code", "scale"), [(ACL_FLOAT4_E2M1, None), (ACL_FLOAT4_E1M2, 0.25)])
def test_four_bit_floats(code: int, scale: float | None, chip, device: int) -> None:
    chip(NEWEST)
    magnitudes = [0, 0.5, 1, 1.5, 2, 3, 4, 6] if scale is None else [i * scale for i in range(8)]
    everything = [low | high << 4 for low, high in zip(range(0, 16, 2), range(1, 16, 2), strict=True)]
    values = floats_of(everything, code, (4, 4))
    assert values == magnitudes + [-m for m in magnitudes]
    assert codes_of(values, code, 8) == everything
    middle = (magnitudes[2] + magnitudes[3]) / 2
    assert codes_of([middle, 99, -99], code, 2) == [2 | 7 << 4, 15]


@pytest.mark.parametrize(("code", "dtype"), [(ACL_FLOAT8_E5M2, ml_dtypes.float8_e5m2), (ACL_FLOAT8_E4M3FN, ml_dtypes.float8_e4m3fn)])
def test_eight_bit_floats(code: int, dtype: Any, chip, device: int) -> None:
    chip(NEWEST)
    x = np.arange(256, dtype=np.uint8).view(dtype)
    for wide in FLOATS:
        np.testing.assert_array_equal(cast(x, np.zeros(256, wide)).run(5).astype(np.float32), x.astype(np.float32))
    y = numbers((200,), FLOAT, 1)
    np.testing.assert_array_equal(cast(y, np.zeros(200, dtype)).run().view(np.uint8), y.astype(dtype).view(np.uint8))
    assert len(run_bits(np.arange(8, dtype=np.uint8), code, np.zeros(4, np.uint8), ACL_FLOAT4_E2M1, (8,))) == 4


def test_int4_and_complex32(chip, device: int) -> None:
    chip(NEWEST)
    x = np.array([[0, 1], [-1, 7], [-8, 2]], np.int32)
    assert run_bits(x, ACL_INT32, np.zeros(3, np.uint8), ACL_INT4, (3, 2)).tolist() == [0x10, 0x7F, 0x28]
    halves = np.array([1.5, -2, 65504], np.float16)
    pairs = run_bits(halves, ACL_FLOAT16, np.ones((3, 2), np.float16), ACL_COMPLEX32, (3,))
    assert pairs.tolist() == [[1.5, 0], [-2, 0], [65504, 0]]
    assert run_bits(pairs + np.float16(1), ACL_COMPLEX32, np.zeros(3, np.float16), ACL_FLOAT16, (3,)).tolist() == [2.5, -1, 65504]


def test_narrow_types_have_few_partners(chip) -> None:
    chip(NEWEST)
    for source, target, status in (
        (FLOAT, ACL_COMPLEX32, ACLNN_ERR_PARAM_INVALID),
        (np.int32, ACL_HIFLOAT8, ACLNN_ERR_PARAM_INVALID),
        (ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACLNN_ERR_PARAM_INVALID),
        (ACL_FLOAT4_E2M1, np.int32, ACLNN_ERR_PARAM_INVALID),
        (np.int64, ACL_INT4, ACLNN_ERR_PARAM_INVALID),
        (ACL_INT4, np.int32, ACLNN_ERR_PARAM_INVALID),
        (ACL_FLOAT4_E2M1, ACL_HIFLOAT8, 0),
        (np.int32, ACL_INT4, 0),
    ):
        assert cast(Meta((2, 4), source), Meta((2, 4), target), code_of(target)).status() == status, (source, target)


def test_int4_needs_even_contiguous_rows(chip) -> None:
    chip(NEWEST)
    case = cast(Meta((2, 3), np.int32), Meta((2, 3), ACL_INT4), ACL_INT4)
    assert case.status() == ACLNN_ERR_INNER_TILING_ERROR
    assert case.but(self=Meta((2, 3), np.int32, strides=(1, 2))).status() == ACLNN_ERR_PARAM_INVALID
    for name, source in (("self", ACL_FLOAT4_E2M1), ("out", FLOAT)):
        four = (
            cast(Meta((2, 4), source), Meta((2, 4), ACL_FLOAT4_E1M2), ACL_FLOAT4_E1M2)
            if name == "out"
            else cast(Meta((2, 4), source), Meta((2, 4), FLOAT))
        )
        assert four.status() == 0
        assert four.but(**{name: four.arguments[name]._replace(strides=(1, 2))}).status() == ACLNN_ERR_PARAM_INVALID
