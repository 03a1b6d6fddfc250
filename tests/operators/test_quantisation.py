"""Quantisation and back: against the documents' formulas, number by number, and what arguments can be wrong in."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core import dtypes
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts

NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"
E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
INT8, UINT8, INT32, INT64 = map(np.dtype, "bBiq")
CODES = {INT8: 2, INT32: 3, UINT8: 4, E5M2: 35, E4M3: 36}
MOST = {INT8: 127.0, INT32: 7.0, E4M3: 448.0, E5M2: 57344.0}
SOME = settings(max_examples=20)
ROUND: dict[str, Callable[[Any], Any]] = {"round": np.rint, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc}


def wide(array: Array) -> Array:
    return array.astype(np.float64)


def nibbles(array: Array) -> Array:
    """The eight numbers of four bits in each INT32, the lowest first."""
    codes = array.astype(np.int64)[..., np.newaxis] >> 4 * np.arange(8) & 15
    return np.where(codes > 7, codes - 16, codes).reshape(*array.shape[:-1], -1)


def near(result: Array, exact: Array, rounding: str = "round") -> None:
    """The rounded numbers, but for a step where FLOAT is on the other side of the border."""
    if result.dtype in (E4M3, E5M2):
        expected = wide(exact.astype(np.float32).astype(result.dtype))
        step = np.abs(expected) * (0.126 if result.dtype == E4M3 else 0.251) + 1e-2
    else:
        limits = (-8, 7) if result.dtype == INT32 else (np.iinfo(result.dtype).min, np.iinfo(result.dtype).max)
        expected, step = np.clip(ROUND[rounding](exact), *limits), np.ones(exact.shape)
    found = wide(nibbles(result) if result.dtype == INT32 else result)
    difference = np.abs(found - expected)
    assert found.shape == expected.shape
    assert (difference <= step).all()
    assert (difference == 0).mean() > 0.95


def target_like(x: Array, target: np.dtype[Any]) -> Array:
    return np.zeros((*x.shape[:-1], x.shape[-1] // 8) if target == INT32 else x.shape, target)


@pytest.mark.parametrize("mode", list(ROUND))
@pytest.mark.parametrize("target", [INT8, INT32], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@SOME
@given(data=st.data())
def test_ascend_quant(dtype: np.dtype[Any], target: np.dtype[Any], mode: str, data: st.DataObject, device: int) -> None:
    """Both versions; scales of one dimension and of all."""
    x = numbers((3, 4, 16), dtype, data.draw(st.integers(0, 99)), 5)
    axis = data.draw(st.sampled_from([-1, -2, 1, 2]))
    length = data.draw(st.sampled_from([1, x.shape[axis]]))
    spread = [1, 1, 1]
    spread[axis] = length
    shape = data.draw(st.sampled_from([(length,), tuple(spread)]))
    scale, offset = numbers(shape, dtype, 2), data.draw(st.sampled_from([None, numbers(shape, dtype, 3, 3)]))
    twice = data.draw(st.booleans())
    call = {
        "x": x,
        "scale": scale,
        "offset": offset,
        "sqrtMode": twice,
        "roundMode": mode,
        "dstType": CODES[target],
        "y": target_like(x, target),
    }
    exact = wide(x) * wide(scale).reshape(spread) * (wide(scale).reshape(spread) if twice else 1)
    exact = exact + (0 if offset is None else wide(offset).reshape(spread))
    near(Case("aclnnAscendQuantV3", {**call, "axis": axis}).run(data.draw(layouts)), exact, mode)
    if axis in (-1, 2):
        near(Case("aclnnAscendQuant", call).run(data.draw(layouts)), exact, mode)


@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
def test_ascend_quant_to_eight_bits(target: np.dtype[Any], device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x, scale = numbers((4, 8), FLOAT, 1, 50), numbers((8,), FLOAT, 2)
    call = {"x": x, "scale": scale, "offset": None, "sqrtMode": False, "roundMode": "round", "dstType": CODES[target], "axis": -1}
    near(Case("aclnnAscendQuantV3", {**call, "y": np.zeros((4, 8), target)}).run(), wide(x) * wide(scale))


def test_the_documented_quantisations(device: int) -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    one_two, out = np.array([1, 2], np.float32), np.zeros((4, 2), np.int8)
    call = {"x": x, "scale": one_two, "offset": one_two, "sqrtMode": False, "roundMode": "round", "dstType": 2, "y": out}
    assert Case("aclnnAscendQuant", call).run().ravel().tolist() == [1, 4, 3, 8, 5, 12, 7, 16]
    groups = {"scale": np.tile(one_two, (3, 1)), "groupIndex": np.array([1, 2, 4], np.int32), "offsetOptional": one_two[1:]}
    assert Case("aclnnGroupQuant", {"x": x, **groups, "dstType": 2, "y": out}).run().ravel().tolist() == [2, 4, 4, 8, 6, 12, 8, 16]
    given_by = [0.3382, -0.0919, 0.7564, 0.0234, 3.1024, 1.0761, 0.4228, 1.4621]
    quantize = {
        "x": np.array(given_by, np.float32).reshape(4, 2),
        "scales": np.array([1, -3], np.float32),
        "zeroPoints": np.array([2, 10], np.int32),
        "dtype": 3,
        "axis": 1,
        "out": np.zeros((4, 2), np.int32),
    }
    assert Case("aclnnQuantize", quantize).run().ravel().tolist() == [2, 10, 3, 10, 5, 10, 2, 10]


def test_saturation_and_what_is_no_number(device: int) -> None:
    x = np.array([[1e9, -1e9, np.nan, np.inf, -np.inf, 0.5, 1.5, 2.5]], np.float32)
    call = {
        "x": x,
        "scale": np.ones(1, np.float32),
        "offset": None,
        "sqrtMode": False,
        "roundMode": "round",
        "dstType": 2,
        "y": np.ones((1, 8), np.int8),
    }
    assert Case("aclnnAscendQuant", call).run().ravel().tolist() == [127, -128, 0, 127, -128, 0, 2, 2]
    packed = Case("aclnnAscendQuant", {**call, "dstType": 3, "y": np.zeros((1, 1), np.int32)}).run()
    assert nibbles(packed).ravel().tolist() == [7, -8, 0, 7, -8, 0, 2, 2]
    whole = {"x": x, "scales": np.ones(1, np.float32), "zeroPoints": None, "axis": 0}
    for dtype, expected in ((UINT8, [255, 0, 0, 255, 0, 0, 2, 2]), (INT32, [10**9, -(10**9), 0, 2**31 - 1, -(2**31), 0, 2, 2])):
        found = Case("aclnnQuantize", {**whole, "dtype": dtypes.from_numpy(dtype).code, "out": np.ones((1, 8), dtype)}).run()
        assert found.ravel().tolist() == expected


def packed_call(name: str, arguments: dict[str, Any], packed: dict[str, Array], code: int = dtypes.INT4.code) -> dict[str, Array]:
    """A call whose tensors of four bits are given, and given back, as bytes of two numbers each."""
    with ExitStack() as stack:
        tensors: dict[str, tuple[int, Array]] = {}
        values = []
        for parameter in aclnnop.find(name).names:
            value = packed.get(parameter, arguments.get(parameter))
            if isinstance(value, np.ndarray):
                stored_as = code if parameter in packed else dtypes.from_numpy(value.dtype).code
                shape = (*value.shape[:-1], value.shape[-1] * 2) if parameter in packed else value.shape
                address, status = acl.aclrtMalloc(value.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
                assert status == 0
                stack.callback(acl.aclrtFree, address)
                acl.aclrtMemcpy(address, value.nbytes, np.ascontiguousarray(value), value.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
                value_handle = acl.aclCreateTensor(shape, stored_as, None, 0, acl.ACL_FORMAT_ND, shape, address)
                stack.callback(acl.aclDestroyTensor, value_handle)
                tensors[parameter] = (address, np.empty_like(value))
                value = value_handle
            values.append(value)
        operator = aclnnop.find(name)
        size, executor, status = operator.get_workspace_size(*values)
        assert (size, status) == (0, 0), message()
        stream, _ = acl.aclrtCreateStream()
        stack.callback(acl.aclrtDestroyStream, stream)
        assert operator.run(None, 0, executor, stream) == acl.aclrtSynchronizeStream(stream) == 0
        for address, back in tensors.values():
            acl.aclrtMemcpy(back, back.nbytes, address, back.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
        return {parameter: back for parameter, (_, back) in tensors.items()}


def halves(bytes_: Array) -> Array:
    codes = np.stack((bytes_ & 15, bytes_ >> 4), axis=-1).reshape(*bytes_.shape[:-1], -1).astype(np.int64)
    return np.where(codes > 7, codes - 16, codes)


def test_four_bits(device: int) -> None:
    """Two numbers to a byte, the first one lowest, in all operators that have them; and back again."""
    x = numbers((3, 8), FLOAT16, 1, 3)
    exact = np.clip(np.rint(wide(x)), -8, 7)
    ones = np.ones(1, np.float16)
    static = {"x": x, "scale": ones, "offset": None, "sqrtMode": False, "roundMode": "round", "dstType": 29}
    empty = {"y": np.zeros((3, 4), np.uint8)}
    by_group = {"x": x, "scale": np.ones((1, 8), np.float16), "groupIndex": np.array([3], np.int32), "offsetOptional": None, "dstType": 29}
    packed = packed_call("aclnnAscendQuant", static, empty)["y"]
    for found in (
        packed,
        packed_call("aclnnAscendQuantV3", {**static, "axis": -1}, empty)["y"],
        packed_call("aclnnGroupQuant", by_group, empty)["y"],
    ):
        assert (halves(found) == exact).all()
    scales = np.zeros(3, np.float32)
    dynamic = packed_call(
        "aclnnDynamicQuant", {"x": x, "smoothScalesOptional": None, "scaleOut": scales}, {"yOut": np.zeros((3, 4), np.uint8)}
    )
    np.testing.assert_allclose(dynamic["scaleOut"], np.abs(wide(x)).max(axis=1) / 7, rtol=1e-6)
    assert np.abs(halves(dynamic["yOut"]) - wide(x) / dynamic["scaleOut"][:, None]).max() <= 0.5001
    back = {
        "scale": np.full(1, 0.5, np.float32),
        "offset": np.ones(1, np.float32),
        "dstType": 1,
        "sqrtMode": False,
        "y": np.zeros((3, 8), np.float16),
    }
    assert (packed_call("aclnnAscendAntiQuant", back, {"x": packed})["y"] == (exact + 1) / 2).all()


@pytest.mark.parametrize("target", [INT8, INT32], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_group_quant(dtype: np.dtype[Any], target: np.dtype[Any], device: int) -> None:
    x, scale, ends = numbers((7, 16), dtype, 1, 5), numbers((4, 16), FLOAT, 2), np.array([2, 2, 3, 6])
    y = np.full_like(target_like(x, target), 85)
    offset = numbers((), FLOAT, 3, 2)
    found = Case(
        "aclnnGroupQuant", {"x": x, "scale": scale, "groupIndex": ends, "offsetOptional": offset, "dstType": CODES[target], "y": y}
    ).run(4)
    group = [0, 0, 2, 3, 3, 3]
    near(found[:6], wide(x)[:6] * wide(scale)[group] + float(offset))
    assert (found[6] == 85).all()


@pytest.mark.parametrize("target", [INT8, UINT8, INT32, E4M3, E5M2], ids=str)
@pytest.mark.parametrize("point", [None, INT8, UINT8, INT32, FLOAT], ids=str)
def test_quantize(target: np.dtype[Any], point: Any, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    for dtype, axis, count in ((FLOAT, 0, 3), (FLOAT16, -1, 8), (BF16, 1, 1)):
        x, scales = numbers((3, 4, 8), dtype, 1, 20), np.abs(numbers((count,), dtype, 2)) + np.asarray(0.5).astype(dtype)
        points = None if point is None else numbers((count,), point, 3, 5)
        spread = [1, 1, 1]
        spread[axis] = count
        call = {"x": x, "scales": scales, "zeroPoints": points, "dtype": dtypes.from_numpy(target).code, "axis": axis}
        found = Case("aclnnQuantize", {**call, "out": np.zeros(x.shape, target)}).run(5)
        exact = wide(x) / wide(scales).reshape(spread) + (0 if points is None else wide(points).reshape(spread))
        if target == INT32:
            assert np.abs(wide(found) - np.rint(exact)).max() <= 1
        else:
            near(found, exact)


@pytest.mark.parametrize("source", [INT8, INT32, E4M3, E5M2], ids=str)
@pytest.mark.parametrize("twice", [False, True])
def test_anti_quant(source: np.dtype[Any], twice: bool, device: int, chip: Callable[[str], None]) -> None:
    """Scales for the last dimension, for the one before it, and for all."""
    chip(NEWEST)
    rng = np.random.default_rng(1)
    x = rng.integers(-(2**31), 2**31, (2, 3, 2)).astype(np.int32) if source == INT32 else numbers((2, 3, 16), source, 1, 20)
    values = wide(nibbles(x) if source == INT32 else x)
    for shape, spread in (((16,), (16,)), ((1,), (1,)), ((3,), (3, 1)), ((1, 3, 1), (3, 1)), ((1, 1, 16), (16,))):
        for target in (FLOAT16, BF16):
            scale, offset = numbers(shape, FLOAT, 2), numbers(shape, FLOAT, 3, 5)
            call = {"x": x, "scale": scale, "offset": offset, "dstType": dtypes.from_numpy(target).code, "sqrtMode": twice}
            found = Case("aclnnAscendAntiQuant", {**call, "y": np.zeros(values.shape, target)}).run(2)
            factor = wide(scale).reshape(spread)
            sums = values + wide(offset).reshape(spread)
            largest = np.maximum(np.abs(values), np.abs(sums)) * np.abs(factor) * (np.abs(factor) if twice else 1)
            assert_accurate(found, sums * factor * (factor if twice else 1), largest=largest)


@pytest.mark.parametrize("target", [INT8, INT32, E4M3, E5M2], ids=str)
@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("symmetrical", [True, False], ids=["around zero", "with offset"])
@pytest.mark.parametrize("mode", ["pertoken", "pertensor", "perchannel"])
@pytest.mark.parametrize("smooth", ["none", "factors", "groups"])
def test_dynamic_quant(
    smooth: str, mode: str, symmetrical: bool, dtype: np.dtype[Any], target: np.dtype[Any], device: int, chip: Callable[[str], None]
) -> None:
    """All versions that can say it."""
    if smooth == "groups" and mode != "pertoken":
        pytest.skip("there is no such call")
    chip(NEWEST)
    x = numbers((2, 6, 16), dtype, 1, 5)
    factors = {"none": None, "factors": numbers((6 if mode == "perchannel" else 16,), dtype, 2), "groups": numbers((3, 16), dtype, 2)}[
        smooth
    ]
    ends = np.array([4, 4, 12], np.int32) if smooth == "groups" else None
    values = wide(x)
    if factors is not None:
        by_row = wide(factors)[[0] * 4 + [2] * 8].reshape(2, 6, 16) if ends is not None else None
        values = values * (by_row if by_row is not None else wide(factors)[:, None] if mode == "perchannel" else wide(factors))
    axis = {"pertoken": -1, "pertensor": None, "perchannel": -2}[mode]
    most = MOST[target]
    if symmetrical:
        scales = np.abs(values).max(axis=axis, keepdims=True) / most
        offsets = None
        exact = values / scales
    else:
        high = values.max(axis=axis, keepdims=True)
        scales = (high - values.min(axis=axis, keepdims=True)) / (2 * most + (target in (INT8, INT32)))
        offsets = most - high / scales
        exact = values / scales + offsets
    shape = {"pertoken": (2, 6), "pertensor": (1,), "perchannel": (2, 16)}[mode]
    common = {"x": x, "smoothScalesOptional": factors, "yOut": target_like(x, target), "scaleOut": np.zeros(shape, np.float32)}
    offset_out = None if symmetrical else np.zeros(shape, np.float32)
    full = {**common, "groupIndexOptional": ends, "dstType": CODES[target], "offsetOut": offset_out}
    newer = {**full, "isSymmetrical": symmetrical, "quantMode": mode}
    cases = [Case("aclnnDynamicQuantV3", newer), Case("aclnnDynamicQuantV4", {**newer, "dstTypeMax": 100.0})]
    if mode == "pertoken":
        cases.append(Case("aclnnDynamicQuantV2", full))
        if symmetrical and ends is None:
            cases.append(Case("aclnnDynamicQuant", common))
    for case in cases:
        y, scale, *rest = case.results(3)
        np.testing.assert_allclose(scale, scales.reshape(shape), rtol=1e-5)
        near(y, exact)
        if offsets is not None:
            np.testing.assert_allclose(rest[0], offsets.reshape(shape), rtol=1e-4, atol=most * 1e-5)


def test_dynamic_quant_of_nothing(device: int) -> None:
    """Rows of zeros, and of one number."""
    x = np.array([[0] * 8, [3] * 8], np.float16)
    call = {"x": x, "smoothScalesOptional": None, "groupIndexOptional": None, "dstType": 2, "yOut": np.ones((2, 8), np.int8)}
    y, scale = Case("aclnnDynamicQuantV2", {**call, "scaleOut": np.ones(2, np.float32), "offsetOut": None}).results()
    assert y.tolist() == [[0] * 8, [127] * 8]
    assert scale[0] == 0
    y, scale, offset = Case(
        "aclnnDynamicQuantV2", {**call, "scaleOut": np.ones(2, np.float32), "offsetOut": np.ones(2, np.float32)}
    ).results()
    assert not y.any()
    assert not scale.any()
    assert not offset.any()


def test_factors_are_reserved_elsewhere(device: int, chip: Callable[[str], None]) -> None:
    chip("Ascend310P3")
    call = {"x": np.ones((2, 32), np.float16), "yOut": np.zeros((2, 32), np.int8), "scaleOut": np.zeros(2, np.float32)}
    _, scale = Case("aclnnDynamicQuant", {**call, "smoothScalesOptional": np.full(32, 5, np.float16)}).results()
    np.testing.assert_allclose(scale, 1 / 127, rtol=1e-6)


@pytest.mark.parametrize("rounded", [None, 0, 1])
@pytest.mark.parametrize("out", [np.uint64, np.int64])
@pytest.mark.parametrize(
    ("shape", "other", "result"),
    [((5,), None, (5,)), ((5,), (5,), (5,)), ((1,), (5,), (5,)), ((1, 5), (1,), (1, 5)), ((3, 4), None, (3, 4))],
)
def test_trans_quant_param(rounded: int | None, out: Any, shape: Any, other: Any, result: Any, device: int) -> None:
    scale = numbers(shape, FLOAT, 1)
    offset = None if other is None else numbers(other, FLOAT, 2, 300)
    call = {"scale": scale, "offset": offset, "out": np.zeros(result, out)}
    name = "aclnnTransQuantParamV2" if rounded is None else "aclnnTransQuantParamV3"
    found = Case(name, call if rounded is None else {**call, "roundMode": rounded}).run(3).ravel().tolist()
    for place, code in enumerate(found):
        bits = int(scale.ravel()[place % scale.size].view(np.uint32))
        kept = bits & 0xFFFFE000
        if rounded:
            rest, kept = bits - kept, kept + (0x2000 if bits - kept > 0x1000 or (bits - kept == 0x1000 and bits >> 13 & 1) else 0)
            assert rest < 0x2000
        expected = kept | 1 << 46
        if offset is not None:
            expected |= (max(-256, min(255, round(float(offset.ravel()[place % offset.size])))) & 0x1FF) << 37
        assert code == expected


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=str)
@SOME
@given(data=st.data())
def test_fake_quant(dtype: np.dtype[Any], data: st.DataObject, device: int) -> None:
    x = numbers((3, 4, 5), dtype, data.draw(st.integers(0, 99)), 4)
    x[0, 0, 0] = 0
    axis = data.draw(st.integers(-3, 2))
    low, high = sorted(data.draw(st.tuples(st.integers(-30, 30), st.integers(-30, 30))))
    channels = x.shape[axis]
    scale, point = np.abs(numbers((channels,), FLOAT, 2)) + np.float32(0.1), numbers((channels,), INT32, 3, 9)
    spread = [1, 1, 1]
    spread[axis] = channels
    outs = {"out": np.zeros(x.shape, dtype), "mask": np.zeros(x.shape, np.bool_)}
    common = {"self": x, "quantMin": low, "quantMax": high, **outs}
    channel = Case("aclnnFakeQuantPerChannelAffineCachemask", {**common, "scale": scale, "zeroPoint": point, "axis": axis})
    tensor = Case("aclnnFakeQuantPerTensorAffineCachemask", {**common, "scale": scale[:1], "zeroPoint": point[:1], "fakeQuantEnabled": 1.0})
    for case, factor, zero in (
        (channel, wide(scale).reshape(spread), wide(point).reshape(spread)),
        (tensor, float(scale[0]), float(point[0])),
    ):
        out, mask = case.results(data.draw(layouts))
        whole = np.rint(wide(x) / factor) + zero
        agree = np.abs(wide(x) / factor - np.rint(wide(x) / factor)) < 0.499  # FLOAT may be on the other side of the border
        assert (mask == ((whole >= low) & (whole <= high)))[agree].all()
        expected = (np.clip(whole, low, high) - zero) * factor
        assert_accurate(out[agree], expected[agree])
    out, mask = tensor.but(fakeQuantEnabled=0.9).results()
    assert (out == x).all()
    assert mask.all()


@pytest.mark.parametrize(("of", "target"), [(FLOAT, FLOAT16), (BF16, BF16)], ids=str)
@pytest.mark.parametrize("bias", [None, FLOAT, BF16, FLOAT16, INT32], ids=str)
@pytest.mark.parametrize("activated", [True, False])
def test_dequant_bias(of: np.dtype[Any], target: np.dtype[Any], bias: Any, activated: bool, device: int) -> None:
    x = np.random.default_rng(1).integers(-5000, 5000, (6, 7)).astype(np.int32)
    weight, activation = numbers((7,), of, 2), numbers((6,), FLOAT, 3, 0.1) if activated else None
    added = None if bias is None else numbers((7,), bias, 4, 300)
    call = {"x": x, "weightScale": weight, "activateScaleOptional": activation, "biasOptional": added}
    found = Case("aclnnDequantBias", {**call, "outputDtype": dtypes.from_numpy(target).code, "out": np.zeros((6, 7), target)}).run(3)
    first = wide(x) + (wide(added) if bias == INT32 else 0)
    product = first * wide(weight) * (wide(activation)[:, None] if activation is not None else 1)
    later = np.zeros(7) if bias in (None, INT32) else wide(added)
    assert_accurate(found, product + later, largest=np.maximum(np.abs(product), np.abs(later)))


@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_quant_max(dtype: np.dtype[Any], target: np.dtype[Any], device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x, scale = numbers((5, 9), dtype, 1, 20), np.array([1.75], np.float32)
    outs = {"y": np.zeros((5, 9), target), "amax": np.zeros(1, dtype)}
    y, amax = Case("aclnnQuantMax", {"x": x, "scale": scale, "roundMode": "rint", "dstType": CODES[target], **outs}).results(3)
    near(y, wide(x) * 1.75)
    assert float(amax[0]) == np.abs(wide(x)).max()


@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_grouped_quant_max(dtype: np.dtype[Any], target: np.dtype[Any], device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x, scale, ends = numbers((7, 2, 5), dtype, 1, 20), numbers((4,), FLOAT, 2), np.array([2, 3, 3, 6])
    call = {"x": x, "scale": scale, "groupList": ends, "roundMode": "rint", "dstType": CODES[target]}
    y, amax = Case("aclnnGroupedQuantMax", {**call, "y": np.full((7, 2, 5), 3, target), "amax": np.ones(4, dtype)}).results(3)
    near(y[:6], wide(x)[:6] * wide(scale)[[0, 0, 1, 3, 3, 3], None, None])
    assert (wide(y[6]) == 3).all()
    assert wide(amax).tolist() == [np.abs(wide(x[:2])).max(), np.abs(wide(x[2])).max(), 0, np.abs(wide(x[3:6])).max()]


@pytest.mark.parametrize("target", [INT8, E4M3, E5M2], ids=str)
@pytest.mark.parametrize(("block", "least"), [((1, 128), 0.0), ((64, 64), 0.0), ((128, 192), 20.0)], ids=str)
def test_dynamic_block_quant(target: np.dtype[Any], block: tuple[int, int], least: float, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x = numbers((2, 70, 200), FLOAT16, 1, 500)
    x[0, :64, :128] = 0
    rows, columns = -(-70 // block[0]), -(-200 // block[1])
    call = {
        "x": x,
        "minScale": least,
        "roundModeOptional": "rint",
        "dstType": CODES[target],
        "rowBlockSize": block[0],
        "colBlockSize": block[1],
    }
    y, scale = Case(
        "aclnnDynamicBlockQuant", {**call, "yOut": np.zeros(x.shape, target), "scaleOut": np.zeros((2, rows, columns), np.float32)}
    ).results(2)
    exact = np.zeros(x.shape)
    for b, i, j in np.ndindex(2, rows, columns):
        place = (b, slice(i * block[0], (i + 1) * block[0]), slice(j * block[1], (j + 1) * block[1]))
        expected = min(np.abs(wide(x[place])).max() / MOST[target], 1 / least if least else math.inf)
        assert scale[b, i, j] == pytest.approx(expected, rel=1e-6)
        exact[place] = 0 if expected == 0 else wide(x[place]) / expected
    held = (np.abs(exact) <= MOST[target]) | (target == INT8)  # what is beyond a float's range is a matter of the cast
    near(y[held], exact[held])


# Microscaling

E8M0 = np.dtype(ml_dtypes.float8_e8m0fnu)
TOP = {E4M3: 8, E5M2: 15}
GRIDS = {40: [0, 0.5, 1, 1.5, 2, 3, 4, 6], 41: [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]}
"""The magnitudes of both types of four bits, in the order of their codes."""


def mx_code(values: Array, top: int, most: float, algorithm: int, least: float = 0.0) -> int:
    """The exponent of a block, 127 more than it is."""
    largest = max(float(np.abs(values).max()), least if algorithm else 0.0)
    if largest == 0:
        return 0
    if algorithm == 0:
        return max(0, math.floor(math.log2(largest)) - top + 127)
    return math.ceil(math.log2(np.float32(largest) / np.float32(most))) + 127


def mx_scales(shape: tuple[int, ...], axis: int, block: int) -> Array:
    found = list(shape)
    found[axis] = math.ceil(math.ceil(shape[axis] / block) / 2)
    return np.full((*found, 2), 5, np.uint8).view(E8M0)


@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize("algorithm", [0, 1])
@pytest.mark.parametrize(("shape", "axis", "block"), [((3, 70), 1, 32), ((70, 3), 0, 32), ((2, 200, 2), 1, 64), ((33,), 0, 32)], ids=str)
def test_microscaling(
    target: np.dtype[Any], algorithm: int, shape: tuple[int, ...], axis: int, block: int, device: int, chip: Callable[[str], None]
) -> None:
    """All versions, and back again."""
    chip(NEWEST)
    for dtype in (FLOAT16, BF16) if block == 64 else FLOATS:
        x = numbers(shape, dtype, 1, 30)
        x.reshape(-1)[::7] = 0
        call = {
            "x": x,
            "axis": axis - len(shape),
            "roundModeOptional": "rint",
            "dstType": CODES[target],
            "blocksize": block,
            "scaleAlg": algorithm,
        }
        outs = {"yOut": np.zeros(shape, target), "mxscaleOut": mx_scales(shape, axis, block)}
        bound = 40.0 * algorithm
        y, scales = Case("aclnnDynamicMxQuantV3", {**call, "dstTypeMax": 0.0, "maxLowBound": bound, **outs}).results(2)
        codes, values = scales.view(np.uint8), wide(x)
        for place in np.ndindex(*shape[:axis], *shape[axis + 1 :]):
            row = values[(*place[:axis], slice(None), *place[axis:])]
            result = wide(y)[(*place[:axis], slice(None), *place[axis:])]
            stored = codes[(*place[:axis], slice(None), *place[axis:])].ravel()
            count = math.ceil(row.size / block)
            expected = [mx_code(row[i * block : (i + 1) * block], TOP[target], MOST[target], algorithm, bound) for i in range(count)]
            assert stored.tolist() == expected + [0] * (stored.size - count)
            exact = row / np.exp2(np.repeat(expected, block)[: row.size] - 127.0)
            near_row = np.clip(exact, -MOST[target], MOST[target]).astype(np.float32).astype(target)
            assert (result == wide(near_row)).all()
        if algorithm == 0:
            for name, more in (("aclnnDynamicMxQuant", {}), ("aclnnDynamicMxQuantV2", {"dstTypeMax": 0.0})):
                found = Case(name, {**call, **more, **outs}).results()
                assert [one.tobytes() for one in found] == [y.tobytes(), scales.tobytes()]
        if block == 32:
            back = Case("aclnnAntiMxQuant", {"x": y, "mxscale": scales, "axis": axis, "dstType": 0, "y": np.zeros(shape, np.float32)}).run(
                3
            )
            assert np.abs(wide(back) - values).max() <= np.abs(values).max() * 0.13


def test_the_documented_microscaling(device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x = np.array([[0, 8, 64, 512]], BF16)
    call = {"x": x, "axis": -1, "roundModeOptional": "rint", "dstType": 36, "blocksize": 32, "scaleAlg": 0}
    y, scales = Case("aclnnDynamicMxQuant", {**call, "yOut": np.zeros((1, 4), E4M3), "mxscaleOut": mx_scales((1, 4), 1, 32)}).results()
    assert y.view(np.uint8).ravel().tolist() == [0, 72, 96, 120]
    assert scales.view(np.uint8).ravel().tolist() == [128, 0]
    back = {"x": y, "mxscale": scales, "axis": -1, "dstType": 27, "y": np.zeros((1, 4), BF16)}
    assert (Case("aclnnAntiMxQuant", back).run() == x).all()


def test_the_documented_microscaling_both_ways(device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    call = {"x": np.array([[0, 8, 64, 512]], BF16), "roundModeOptional": "rint", "dstType": 36, "scaleAlg": 0}
    call |= {"y1Out": np.zeros((1, 4), E4M3), "y2Out": np.zeros((1, 4), E4M3)}
    call |= {"mxscale1Out": mx_scales((1, 4), 1, 32), "mxscale2Out": mx_scales((1, 4), 0, 32)}
    found = [one.view(np.uint8).ravel().tolist() for one in Case("aclnnDynamicMxQuantWithDualAxis", call).results()]
    assert found[:2] == [[0, 72, 96, 120], [128, 0]]
    assert found[2:] == [[0, 120, 120, 120], [0, 0, 122, 0, 125, 0, 128, 0]]


@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize("algorithm", [0, 1])
@pytest.mark.parametrize("shape", [(70, 33), (2, 33, 130), (2, 1, 64, 5)], ids=str)
def test_microscaling_both_ways(
    shape: tuple[int, ...], algorithm: int, target: np.dtype[Any], device: int, chip: Callable[[str], None]
) -> None:
    """What two calls along one axis give."""
    chip(NEWEST)
    for dtype in (FLOAT16, BF16):
        common = {"x": numbers(shape, dtype, 1, 40), "roundModeOptional": None, "dstType": CODES[target], "scaleAlg": algorithm}
        expected, outs = [], {}
        for place, axis in ((1, len(shape) - 1), (2, len(shape) - 2)):
            y, scales = np.zeros(shape, target), mx_scales(shape, axis, 32)
            expected += Case("aclnnDynamicMxQuant", {**common, "axis": axis, "blocksize": 32, "yOut": y, "mxscaleOut": scales}).results()
            outs |= {f"y{place}Out": y, f"mxscale{place}Out": scales}
        for name, more in (("aclnnDynamicMxQuantWithDualAxis", {}), ("aclnnDynamicMxQuantWithDualAxisV2", {"dstTypeMax": 0.0})):
            found = Case(name, {**common, **more, **outs}).results(4)
            assert [one.tobytes() for one in found] == [one.tobytes() for one in expected]


def test_microscaling_both_ways_to_four_bits(device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    common = {"x": numbers((34, 66), FLOAT16, 1, 3), "roundModeOptional": "round", "dstType": 40, "scaleAlg": 2, "dstTypeMax": 9.0}
    empty, expected, scales = np.zeros((34, 33), np.uint8), {}, {}
    for place, axis in ((1, 1), (2, 0)):
        scales[f"mxscale{place}Out"] = mx_scales((34, 66), axis, 32)
        given = {**common, "axis": axis, "blocksize": 32, "mxscaleOut": mx_scales((34, 66), axis, 32)}
        one = packed_call("aclnnDynamicMxQuantV2", given, {"yOut": empty.copy()}, code=40)
        expected |= {f"y{place}Out": one["yOut"], f"mxscale{place}Out": one["mxscaleOut"]}
    packed = {"y1Out": empty.copy(), "y2Out": empty.copy()}
    found = packed_call("aclnnDynamicMxQuantWithDualAxisV2", {**common, **scales}, packed, code=40)
    for name, value in expected.items():
        assert found[name].tobytes() == value.tobytes(), name


@pytest.mark.parametrize("rounding", ["rint", "floor", "round", None])
@pytest.mark.parametrize(("code", "top"), [(40, 2), (41, 0)])
def test_microscaling_to_four_bits(code: int, top: int, rounding: str | None, device: int, chip: Callable[[str], None]) -> None:
    """Two numbers to a byte; every rounding against the list of all numbers."""
    chip(NEWEST)
    x = numbers((3, 64), FLOAT16, 1, 3)
    x[0, :16] = np.arange(16) / 4
    given = {
        "x": x,
        "axis": -1,
        "roundModeOptional": rounding,
        "dstType": code,
        "blocksize": 32,
        "scaleAlg": 0,
        "mxscaleOut": mx_scales((3, 64), 1, 32),
    }
    found = packed_call("aclnnDynamicMxQuant", given, {"yOut": np.zeros((3, 32), np.uint8)}, code=code)
    codes = np.stack((found["yOut"] & 15, found["yOut"] >> 4), axis=-1).reshape(3, 64)
    grid = np.array(GRIDS[code])
    result = np.where(codes & 8, -1, 1) * grid[codes & 7]
    exponent = found["mxscaleOut"].view(np.uint8).reshape(3, 2)
    for row, block in np.ndindex(3, 2):
        part = slice(32 * block, 32 * block + 32)
        assert exponent[row, block] == mx_code(wide(x)[row, part], top, 0, 0)
        exact = np.clip(wide(x)[row, part] / 2.0 ** (int(exponent[row, block]) - 127), -grid[-1], grid[-1])
        signed = np.concatenate((-grid[::-1], grid))
        if rounding == "floor":
            expected = np.array([signed[signed <= value].max() for value in exact])
        else:
            distance = np.abs(grid - np.abs(exact)[:, None])
            tied = [np.flatnonzero(one == one.min()) for one in distance]
            chosen = [
                ties[-1] if rounding == "round" else next((place for place in ties if len(ties) == 1 or place % 2 == 0), ties[0])
                for ties in tied
            ]
            expected = np.copysign(grid[chosen], exact)
        assert (result[row, part] == expected).all()
    back = {"mxscale": found["mxscaleOut"], "axis": -1, "dstType": 0, "y": np.zeros((3, 64), np.float32)}
    restored = packed_call("aclnnAntiMxQuant", back, {"x": found["yOut"]}, code=code)["y"]
    assert (restored == result * np.repeat(2.0 ** (exponent.astype(int) - 127), 32, axis=1)).all()


@pytest.mark.parametrize(
    ("limit", "largest", "scale"), [(0.0, 6.5, 128), (6.0, 5.9, 127), (7.0, 6.5, 127), (7.0, 7.1, 128), (9.0, 8.9, 127), (9.0, 9.1, 128)]
)
def test_the_third_algorithm(limit: float, largest: float, scale: int, device: int, chip: Callable[[str], None]) -> None:
    """A power of two more where the largest number is beyond the limit."""
    chip(NEWEST)
    x = np.zeros((1, 32), np.float16)
    x[0, 3] = largest
    given = {"x": x, "axis": -1, "roundModeOptional": None, "dstType": 40, "blocksize": 32, "scaleAlg": 2, "dstTypeMax": limit}
    found = packed_call(
        "aclnnDynamicMxQuantV2", {**given, "mxscaleOut": mx_scales((1, 32), 1, 32)}, {"yOut": np.zeros((1, 16), np.uint8)}, code=40
    )
    assert found["mxscaleOut"].view(np.uint8).ravel()[0] == scale


def test_microscaling_of_what_is_not_finite(device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x = np.ones((2, 32), np.float16)
    x[0, 0], x[1, 0] = np.inf, np.nan
    call = {"x": x, "axis": -1, "roundModeOptional": None, "dstType": 36, "blocksize": 32, "scaleAlg": 0}
    _, scales = Case("aclnnDynamicMxQuant", {**call, "yOut": np.zeros((2, 32), E4M3), "mxscaleOut": mx_scales((2, 32), 1, 32)}).results()
    assert scales.view(np.uint8)[:, 0, 0].tolist() == [255, 255]


def test_block_quant_v2_is_block_quant(device: int) -> None:
    x = numbers((3, 130), FLOAT, 1, 50)
    call = {"x": x, "minScale": 0.0, "roundModeOptional": None, "dstType": 2, "rowBlockSize": 1, "colBlockSize": 128}
    outs = {"yOut": np.zeros((3, 130), np.int8), "scaleOut": np.zeros((3, 2), np.float32)}
    first = Case("aclnnDynamicBlockQuant", {**call, **outs}).results()
    second = Case("aclnnDynamicBlockQuantV2", {**call, "dstTypeMax": 0.0, **outs})
    assert [one.tobytes() for one in second.results()] == [one.tobytes() for one in first]
    y, scale = second.but(colBlockSize=1, scaleOut=np.zeros((3, 130), np.float32)).results()
    assert (np.abs(y) == 127).all()
    np.testing.assert_allclose(scale, np.abs(x) / 127, rtol=1e-6)


# Errors


def m(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


STATIC = {"x": m(3, 8), "scale": m(8), "offset": m(8), "sqrtMode": False, "roundMode": "round", "dstType": 2, "y": m(3, 8, dtype=INT8)}
ROWS = {"x": m(3, 8, dtype=FLOAT16), "smoothScalesOptional": None, "yOut": m(3, 8, dtype=INT8), "scaleOut": m(3)}
FULL = {**ROWS, "groupIndexOptional": None, "dstType": 2, "offsetOut": None}
NEWER = {**FULL, "isSymmetrical": True, "quantMode": "pertoken"}
FAKE = {"self": m(3, 5), "quantMin": 0, "quantMax": 9, "out": m(3, 5), "mask": m(3, 5, dtype=np.bool_)}
MX = {
    "x": m(3, 70, dtype=BF16),
    "axis": -1,
    "roundModeOptional": "rint",
    "dstType": 36,
    "blocksize": 32,
    "scaleAlg": 0,
    "yOut": m(3, 70, dtype=E4M3),
    "mxscaleOut": m(3, 2, 2, dtype=E8M0),
}
MX_TWICE: dict[str, Any] = {
    "x": m(3, 70, dtype=BF16),
    "roundModeOptional": "rint",
    "dstType": 36,
    "scaleAlg": 0,
    "y1Out": m(3, 70, dtype=E4M3),
    "mxscale1Out": m(3, 2, 2, dtype=E8M0),
    "y2Out": m(3, 70, dtype=E4M3),
    "mxscale2Out": m(1, 70, 2, dtype=E8M0),
}
CALLS: dict[str, dict[str, Any]] = {
    "aclnnAscendQuant": STATIC,
    "aclnnAscendQuantV3": {**STATIC, "axis": -1},
    "aclnnGroupQuant": {
        "x": m(3, 8),
        "scale": m(2, 8),
        "groupIndex": m(2, dtype=INT32),
        "offsetOptional": m(1),
        "dstType": 2,
        "y": m(3, 8, dtype=INT8),
    },
    "aclnnQuantize": {"x": m(3, 8), "scales": m(8), "zeroPoints": m(8, dtype=INT32), "dtype": 2, "axis": 1, "out": m(3, 8, dtype=INT8)},
    "aclnnAscendAntiQuant": {
        "x": m(3, 8, dtype=INT8),
        "scale": m(8),
        "offset": m(8),
        "dstType": 1,
        "sqrtMode": False,
        "y": m(3, 8, dtype=FLOAT16),
    },
    "aclnnDynamicQuant": ROWS,
    "aclnnDynamicQuantV2": FULL,
    "aclnnDynamicQuantV3": NEWER,
    "aclnnDynamicQuantV4": {**NEWER, "dstTypeMax": 0.0},
    "aclnnTransQuantParamV2": {"scale": m(5), "offset": m(5), "out": m(5, dtype=np.uint64)},
    "aclnnTransQuantParamV3": {"scale": m(5), "offset": m(5), "roundMode": 1, "out": m(5, dtype=np.uint64)},
    "aclnnFakeQuantPerTensorAffineCachemask": {**FAKE, "scale": m(1), "zeroPoint": m(1, dtype=INT32), "fakeQuantEnabled": 1.0},
    "aclnnFakeQuantPerChannelAffineCachemask": {**FAKE, "scale": m(5), "zeroPoint": m(5, dtype=INT32), "axis": 1},
    "aclnnDequantBias": {
        "x": m(3, 5, dtype=INT32),
        "weightScale": m(5),
        "activateScaleOptional": m(3),
        "biasOptional": m(5),
        "outputDtype": 1,
        "out": m(3, 5, dtype=FLOAT16),
    },
    "aclnnQuantMax": {"x": m(3, 5), "scale": m(1), "roundMode": "rint", "dstType": 36, "y": m(3, 5, dtype=E4M3), "amax": m(1)},
    "aclnnDynamicBlockQuant": {
        "x": m(3, 130),
        "minScale": 0.0,
        "roundModeOptional": "rint",
        "dstType": 2,
        "rowBlockSize": 1,
        "colBlockSize": 128,
        "yOut": m(3, 130, dtype=INT8),
        "scaleOut": m(3, 2),
    },
    "aclnnDynamicBlockQuantV2": {
        "x": m(3, 130),
        "minScale": 0.0,
        "roundModeOptional": None,
        "dstType": 2,
        "rowBlockSize": 1,
        "colBlockSize": 128,
        "dstTypeMax": 0.0,
        "yOut": m(3, 130, dtype=INT8),
        "scaleOut": m(3, 2),
    },
    "aclnnGroupedQuantMax": {
        "x": m(3, 5),
        "scale": m(2),
        "groupList": m(2, dtype=INT64),
        "roundMode": "rint",
        "dstType": 36,
        "y": m(3, 5, dtype=E4M3),
        "amax": m(2),
    },
    "aclnnDynamicMxQuant": MX,
    "aclnnDynamicMxQuantWithDualAxis": MX_TWICE,
    "aclnnDynamicMxQuantWithDualAxisV2": {**MX_TWICE, "dstTypeMax": 0.0},
    "aclnnDynamicMxQuantV2": {**MX, "dstTypeMax": 0.0},
    "aclnnDynamicMxQuantV3": {**MX, "dstTypeMax": 0.0, "maxLowBound": 0.0},
    "aclnnAntiMxQuant": {"x": m(3, 70, dtype=E4M3), "mxscale": m(3, 2, 2, dtype=E8M0), "axis": 1, "dstType": 27, "y": m(3, 70, dtype=BF16)},
}
ON_NEWEST = {
    "aclnnGroupedQuantMax",
    "aclnnDynamicQuantV3",
    "aclnnDynamicQuantV4",
    "aclnnQuantMax",
    "aclnnAntiMxQuant",
    *(f"aclnnDynamicMxQuant{v}" for v in ("", "V2", "V3", "WithDualAxis", "WithDualAxisV2")),
}
OPTIONAL = {"offset", "offsetOptional", "zeroPoints", "activateScaleOptional", "biasOptional"}
SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"scale": m(3), "offset": None}, "scale has shape [3]"),
    ({"scale": m(2, 8), "offset": None}, "scale has shape [2, 8]"),
    ({"offset": m(1)}, "offset has shape"),
    ({"offset": m(8, dtype=FLOAT16)}, "offset has dtype"),
    ({"roundMode": "hybrid"}, "roundMode is 'hybrid'"),
    ({"dstType": 4}, "dstType is 4"),
    ({"dstType": 3, "y": m(3, 2, dtype=INT32)}, "y has shape [3, 2]"),
    ({"x": m(3, 12), "scale": m(1), "offset": None, "dstType": 3, "y": m(3, 1, dtype=INT32)}, "that 8 divides"),
    ({"x": m(3, 7), "scale": m(1), "offset": None, "dstType": 29, "y": Meta((3, 7), 29)}, "that 2 divides"),
    ({"dstType": 29, "y": Meta((3, 8), 29, (16, 1))}, "expected a contiguous tensor"),
    ({"x": m(3, 8, dtype=BF16)}, "scale has dtype"),
]
RESULTS: list[tuple[dict[str, Any], str]] = [
    ({"yOut": m(3, 4, dtype=INT8)}, "yOut has shape"),
    ({"scaleOut": m(4)}, "scaleOut has shape"),
    ({"x": m(8, dtype=FLOAT16)}, "x has 1 dimensions"),
    ({"x": m(3, 8)}, "x has dtype"),
    ({"smoothScalesOptional": m(3, dtype=FLOAT16)}, "smoothScalesOptional has shape"),
    ({"smoothScalesOptional": m(8, dtype=BF16)}, "smoothScalesOptional has dtype"),
]
GROUPED: list[tuple[dict[str, Any], str]] = [
    *RESULTS,
    ({"dstType": 3}, "dstType is 3"),
    ({"groupIndexOptional": m(2, dtype=INT32)}, "expected smoothScalesOptional too"),
    ({"groupIndexOptional": m(2, dtype=INT32), "smoothScalesOptional": m(8, dtype=FLOAT16)}, "smoothScalesOptional has shape"),
]
MODES: list[tuple[dict[str, Any], str]] = [
    *GROUPED,
    ({"quantMode": "perhaps"}, "quantMode is 'perhaps'"),
    ({"quantMode": "pertensor"}, "scaleOut has shape"),
    ({"quantMode": "perchannel", "scaleOut": m(8), "smoothScalesOptional": m(8, dtype=FLOAT16)}, "smoothScalesOptional has shape"),
    (
        {"quantMode": "pertensor", "smoothScalesOptional": m(2, 8, dtype=FLOAT16), "groupIndexOptional": m(2, dtype=INT32)},
        "expected a null pointer",
    ),
    ({"isSymmetrical": False, "offsetOut": m(4)}, "offsetOut has shape"),
]
LIMITS: list[tuple[dict[str, Any], str]] = [
    ({"quantMin": 10}, "quantMin is 10"),
    ({"out": m(5, 3)}, "out has shape"),
    ({"mask": m(5, 3, dtype=np.bool_)}, "mask has shape"),
    ({"scale": m(3)}, "scale has 3 elements"),
    ({"zeroPoint": m(3, dtype=INT32)}, "zeroPoint has 3 elements"),
]
CODED: list[tuple[dict[str, Any], str]] = [
    ({"offset": m(3)}, "offset has 3 elements"),
    ({"offset": m(5, 1)}, "offset has shape"),
    ({"scale": m(5, 1)}, "scale has shape"),
    ({"out": m(4, dtype=np.uint64)}, "out has shape"),
    ({"out": m(5, dtype=INT32)}, "out has dtype"),
]
FOUR = {"dstType": 40, "yOut": Meta((3, 70), 40)}
BLOCKED: list[tuple[dict[str, Any], str]] = [
    ({"axis": 2}, "axis is 2"),
    ({"dstType": 35}, "dstType is 35"),
    ({"roundModeOptional": "floor"}, "roundModeOptional is 'floor'"),
    ({"blocksize": 0}, "blocksize is 0"),
    ({"blocksize": 33}, "blocksize is 33"),
    ({"blocksize": 1056}, "blocksize is 1056"),
    ({"scaleAlg": 2}, "scaleAlg is 2"),
    ({**FOUR, "scaleAlg": 1}, "scaleAlg is 1"),
    ({"x": m(3, 70), "blocksize": 64}, "blocksize is 64"),
    ({"x": m(3, 31), "yOut": m(3, 31, dtype=E4M3), "mxscaleOut": m(3, 1, 2, dtype=E8M0)}, "expected at least 32 elements"),
    ({"x": m(3, 33, dtype=BF16), "dstType": 40, "yOut": Meta((3, 33), 40)}, "even last dimension"),
    ({"dstType": 40, "yOut": Meta((3, 70), 40, (80, 1))}, "expected a contiguous tensor"),
    ({"yOut": m(70, 3, dtype=E4M3)}, "yOut has shape"),
    ({"mxscaleOut": m(3, 3, dtype=E8M0)}, "mxscaleOut has shape"),
]
CHOSEN: list[tuple[dict[str, Any], str]] = [
    *BLOCKED,
    ({**FOUR, "scaleAlg": 2, "blocksize": 64}, "blocksize is 64"),
    ({"dstTypeMax": 6.0}, "dstTypeMax is 6"),
    ({**FOUR, "dstTypeMax": 5.0}, "dstTypeMax is 5"),
    ({**FOUR, "dstTypeMax": math.nan}, "dstTypeMax is nan"),
]
TWICE: list[tuple[dict[str, Any], str]] = [
    ({"x": m(3, 70)}, "x has dtype"),
    ({"x": m(70, dtype=BF16)}, "x has 1 dimensions"),
    ({"dstType": 35}, "dstType is 35"),
    ({"y2Out": m(3, 70, dtype=E5M2)}, "dstType is 36"),
    ({"roundModeOptional": "floor"}, "roundModeOptional is 'floor'"),
    ({"scaleAlg": 2}, "scaleAlg is 2"),
    ({"y1Out": m(70, 3, dtype=E4M3)}, "y1Out has shape"),
    ({"y2Out": m(70, 3, dtype=E4M3)}, "y2Out has shape"),
    ({"mxscale1Out": m(3, 3, dtype=E8M0)}, "mxscale1Out has shape"),
    ({"mxscale2Out": m(3, 2, 2, dtype=E8M0)}, "mxscale2Out has shape"),
]
BOTH_FOUR = {"dstType": 40, "y1Out": Meta((3, 70), 40), "y2Out": Meta((3, 70), 40)}
WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "aclnnGroupedQuantMax": [
        ({"dstType": 35}, "dstType is 35"),
        ({"roundMode": "floor"}, "roundMode is 'floor'"),
        ({"amax": m(2, dtype=BF16)}, "amax has dtype"),
        ({"scale": m(3)}, "scale has shape"),
        ({"amax": m(3)}, "amax has shape"),
        ({"x": m(5)}, "x has 1 dimensions"),
        ({"groupList": m(385, dtype=INT64), "scale": m(385), "amax": m(385)}, "groupList has 385 elements"),
    ],
    "aclnnDynamicMxQuant": BLOCKED,
    "aclnnDynamicMxQuantWithDualAxis": [*TWICE, ({**BOTH_FOUR, "scaleAlg": 2}, "scaleAlg is 2")],
    "aclnnDynamicMxQuantWithDualAxisV2": [
        *TWICE,
        ({"dstTypeMax": 6.0}, "dstTypeMax is 6"),
        ({**BOTH_FOUR, "dstTypeMax": 7.0}, "expected 0 where scaleAlg is 0"),
        ({**BOTH_FOUR, "scaleAlg": 2, "dstTypeMax": 13.0}, "dstTypeMax is 13"),
    ],
    "aclnnDynamicMxQuantV2": CHOSEN,
    "aclnnDynamicMxQuantV3": [*CHOSEN, ({"maxLowBound": -1.0}, "maxLowBound is -1"), ({"maxLowBound": 1.0}, "maxLowBound is 1")],
    "aclnnAntiMxQuant": [
        ({"axis": -3}, "axis is -3"),
        ({"dstType": 1}, "dstType is 1"),
        ({"y": m(70, 3, dtype=BF16)}, "y has shape"),
        ({"mxscale": m(3, 1, 2, dtype=E8M0)}, "mxscale has shape"),
        ({"x": m(3, 70, dtype=INT8)}, "x has dtype"),
    ],
    "aclnnDynamicBlockQuantV2": [
        ({"dstTypeMax": 15.0}, "dstTypeMax is 15"),
        ({"rowBlockSize": 128}, "rowBlockSize is 128"),
        ({"colBlockSize": 64}, "colBlockSize is 64"),
        ({"minScale": math.nan}, "minScale is nan"),
    ],
    "aclnnAscendQuant": SHAPES,
    "aclnnAscendQuantV3": [*SHAPES, ({"axis": 2}, "axis is 2"), ({"axis": -3}, "axis is -3")],
    "aclnnGroupQuant": [
        ({"offsetOptional": m(1, dtype=BF16)}, "offsetOptional has dtype"),
        ({"scale": m(2, 7)}, "scale has shape"),
        ({"groupIndex": m(3, dtype=INT32)}, "groupIndex has shape"),
        ({"offsetOptional": m(2)}, "offsetOptional has 2 elements"),
        ({"dstType": 3}, "dstType is 3"),
        ({"y": m(3, 4, dtype=INT8)}, "y has shape"),
    ],
    "aclnnQuantize": [
        ({"x": m(3, 8, dtype=FLOAT16)}, "scales has dtype"),
        ({"axis": 2}, "axis is 2"),
        ({"dtype": 4}, "out has dtype"),
        ({"zeroPoints": m(1, dtype=INT32)}, "zeroPoints has 1 elements"),
        ({"axis": 0}, "scales has 8 elements"),
        ({"zeroPoints": m(8)}, "zeroPoints has dtype"),
        ({"zeroPoints": m(8, dtype=BF16)}, "x has dtype"),
        ({"out": m(8, 3, dtype=INT8)}, "out has shape"),
    ],
    "aclnnAscendAntiQuant": [
        ({"dstType": 27}, "dstType is 27"),
        ({"scale": m(3), "offset": None}, "scale has shape"),
        ({"offset": m(1)}, "offset has shape"),
        ({"y": m(8, 3, dtype=FLOAT16)}, "y has shape"),
        ({"x": m(3, 8, dtype=INT32)}, "y has shape [3, 8], expected [3, 64]"),
        ({"x": Meta((3, 7), 29), "y": m(3, 7, dtype=FLOAT16)}, "even last dimension"),
        ({"x": Meta((3, 8), 29, (16, 1))}, "expected a contiguous tensor"),
        ({"x": m(3, 8, dtype=E4M3)}, "x has dtype"),
    ],
    "aclnnDynamicQuant": RESULTS,
    "aclnnDynamicQuantV2": [*GROUPED, ({"offsetOut": m(4)}, "offsetOut has shape")],
    "aclnnDynamicQuantV3": MODES,
    "aclnnDynamicQuantV4": [*MODES, ({"dstTypeMax": -1.0}, "dstTypeMax is -1"), ({"dstTypeMax": math.nan}, "dstTypeMax is nan")],
    "aclnnTransQuantParamV2": CODED,
    "aclnnTransQuantParamV3": [*CODED, ({"roundMode": 2}, "roundMode is 2")],
    "aclnnFakeQuantPerTensorAffineCachemask": LIMITS,
    "aclnnFakeQuantPerChannelAffineCachemask": [*LIMITS, ({"axis": 2}, "axis is 2"), ({"axis": 0}, "scale has 5 elements")],
    "aclnnQuantMax": [
        ({"dstType": 35}, "dstType is 35"),
        ({"roundMode": ""}, "roundMode is ''"),
        ({"roundMode": "round"}, "roundMode is 'round'"),
        ({"amax": m(1, dtype=BF16)}, "amax has dtype"),
        ({"scale": m(2)}, "scale has shape"),
        ({"amax": m(2)}, "amax has shape"),
        ({"y": m(5, 3, dtype=E4M3)}, "y has shape"),
    ],
    "aclnnDynamicBlockQuant": [
        ({"dstType": 36}, "dstType is 36"),
        ({"roundModeOptional": "round"}, "roundModeOptional is 'round'"),
        ({"rowBlockSize": 64}, "rowBlockSize is 64"),
        ({"colBlockSize": 64}, "colBlockSize is 64"),
        ({"minScale": -1.0}, "minScale is -1"),
        ({"scaleOut": m(3, 1)}, "scaleOut has shape"),
        ({"yOut": m(130, 3, dtype=INT8)}, "yOut has shape"),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_errors(name: str, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST if name in ON_NEWEST else USUAL)
    call = Case(name, CALLS[name])
    assert call.status() == 0, message()
    for changes, text in WRONG.get(name, ()):
        assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
        assert text in message(), changes
    for parameter, value in CALLS[name].items():
        if isinstance(value, Meta) and parameter not in OPTIONAL:
            assert call.but(**{parameter: None}).status() == ACLNN_ERR_PARAM_NULLPTR, parameter


@pytest.mark.parametrize("name", ["aclnnDynamicQuantV3", "aclnnDynamicQuantV4"])
def test_offsets_are_wanted(name: str, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    assert Case(name, CALLS[name]).but(isSymmetrical=False).status() == ACLNN_ERR_PARAM_NULLPTR
    assert "offsetOut" in message()


@pytest.mark.parametrize(
    "changes",
    [
        {"activateScaleOptional": m(3, dtype=BF16)},
        {"biasOptional": m(5, dtype=INT64)},
        {"outputDtype": 27},
        {"weightScale": m(4)},
        {"activateScaleOptional": m(5)},
        {"biasOptional": m(3)},
        {"out": m(5, 3, dtype=FLOAT16)},
        {"x": m(25_001, 5, dtype=INT32)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_the_tiling_of_dequant_bias_refuses(changes: dict[str, Any], device: int) -> None:
    assert Case("aclnnDequantBias", CALLS["aclnnDequantBias"]).but(**changes).status() == ACLNN_ERR_INNER_TILING_ERROR


def test_the_last_dimension_only(device: int, chip: Callable[[str], None]) -> None:
    call = Case("aclnnAscendQuantV3", CALLS["aclnnAscendQuantV3"]).but(scale=m(3), offset=None, axis=0)
    for soc, status in ((USUAL, 0), ("Ascend310P3", ACLNN_ERR_PARAM_INVALID)):
        chip(soc)
        assert call.status() == status


def test_codes_of_numbers_on_the_host(device: int) -> None:
    scales, offsets = [0.25, -3.0, 1e-3], [1.5, -7.0, 255.0]
    codes, count, status = aclnnop.aclnnTransQuantParam(scales, 3, offsets, 3)
    arrays = {"scale": np.array(scales, np.float32), "offset": np.array(offsets, np.float32), "out": np.zeros(3, np.uint64)}
    assert (count, status) == (16, 0)
    assert codes == [*Case("aclnnTransQuantParamV2", arrays).run().tolist(), *[0] * 13]
    one, _, _ = aclnnop.aclnnTransQuantParam([0.5], 1, offsets, 3)
    assert one[:3] == Case("aclnnTransQuantParamV2", {**arrays, "scale": np.full(3, 0.5, np.float32)}).run().tolist()
