"""Activations that are quantised: against the documents' formulas, number by number."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_RUNTIME_ERROR
from acl_emu.core.dtypes import HIFLOAT8, INT4
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.test_activations import gelu, sigma, tanh_gelu

E4M3, E5M2, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu
MOST = {np.int8: 127.0, E4M3: 448.0, E5M2: 57344.0}
A950 = "Ascend950PR_9589"


def complete(name: str, given: dict[str, Any]) -> Case:
    return Case(name, {one: given[one] for one in aclnnop.find(name).names})


def near(result: Array, expected: Array, target: Any) -> None:
    """Equal, but for the last step where the number before rounding is in the middle."""
    wanted = np.clip(np.rint(expected), -128, 127) if target is np.int8 else expected.astype(np.float32).astype(target).astype(np.float64)
    difference = np.abs(result.astype(np.float64) - wanted)
    step = 1.0 if target is np.int8 else np.abs(wanted) * (0.126 if target is E4M3 else 0.251) + 1e-3
    assert (difference <= step).all()
    assert (difference == 0).mean() > 0.97


def gelu_quant(dtype: Any = FLOAT, mode: str = "static", target: Any = np.int8, approximate: str = "tanh", **changes: Any) -> Case:
    dynamic = mode == "dynamic"
    given = {
        "self": numbers((6, 8), dtype, 1, 3),
        "inputScaleOptional": numbers((8,), dtype, 2, 4),
        "inputOffsetOptional": None if dynamic else numbers((8,), dtype, 3, 4),
        "approximate": approximate,
        "quantMode": mode,
        "roundMode": "rint",
        "dstType": {np.int8: 2, E5M2: 35, E4M3: 36}[target],
        "y": np.zeros((6, 8), target),
        "outScaleOptional": np.zeros(6, FLOAT) if dynamic else None,
    }
    return Case("aclnnGeluQuant", {**given, **changes})


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("mode", ["static", "dynamic"])
@pytest.mark.parametrize("target", list(MOST), ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gelu_quant(dtype: Any, mode: str, target: Any, approximate: str, device: int, chip) -> None:
    chip(A950)
    case = gelu_quant(dtype, mode, target, approximate)
    values = (gelu if approximate == "none" else tanh_gelu)(case.arguments["self"].astype(np.float64))
    values = values * case.arguments["inputScaleOptional"].astype(np.float64)
    if mode == "static":
        near(case.run(3), values + case.arguments["inputOffsetOptional"].astype(np.float64), target)
        return
    result, scales = case.results(3)
    expected = np.abs(values).max(axis=1) / MOST[target]
    np.testing.assert_allclose(scales, expected, rtol=1e-6)
    near(result, values / expected[:, None], target)


def test_gelu_quant_of_zeros_and_one_scale(device: int, chip) -> None:
    chip(A950)
    zeros = gelu_quant(mode="dynamic", self=np.zeros((2, 4), FLOAT), y=np.ones((2, 4), np.int8), outScaleOptional=np.ones(2, FLOAT))
    result, scales = zeros.but(inputScaleOptional=None).results()
    assert not result.any()
    assert not scales.any()
    x = np.array([1.3, 2.5, 6.7, -4, -1.4, -1.6, -8, -16.9], FLOAT).reshape(4, 2)  # the page's program
    one = gelu_quant(self=x, inputScaleOptional=np.ones(1, FLOAT), inputOffsetOptional=None, y=np.zeros((4, 2), np.int8))
    assert one.run().tolist() == [[1, 2], [7, 0], [0, 0], [0, 0]]
    far = one.but(self=np.full((4, 2), 1e6, FLOAT))
    assert (far.run() == 127).all()


@pytest.mark.parametrize(
    ("mode", "changes", "status"),
    [
        ("static", {"self": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("static", {"inputScaleOptional": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("dynamic", {"outScaleOptional": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("static", {"self": Meta((0, 8), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"approximate": "erf"}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"quantMode": "other"}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"roundMode": "round"}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"roundMode": "ceil"}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"dstType": 3}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"dstType": 36}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"y": Meta((6, 7), np.int8)}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"inputScaleOptional": Meta((3,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("static", {"inputOffsetOptional": Meta((1,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("dynamic", {"outScaleOptional": Meta((6, 8), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("dynamic", {"self": Meta((8,), np.float32), "y": Meta((8,), np.int8)}, ACLNN_ERR_PARAM_INVALID),
    ],
    ids=str,
)
def test_gelu_quant_refusals(mode: str, changes: dict[str, Any], status: int, chip) -> None:
    chip(A950)
    assert gelu_quant(mode=mode, **changes).status() == status
    chip("Ascend910B1")
    assert gelu_quant(mode=mode).status() == ACLNN_ERR_RUNTIME_ERROR


def test_hifloat8(chip) -> None:
    chip(A950)
    for mode, status in (("round", 0), ("hybrid", 0), ("rint", ACLNN_ERR_PARAM_INVALID)):
        assert gelu_quant(dstType=34, roundMode=mode, y=Meta((6, 8), HIFLOAT8.code)).status() == status


def swiglu_quant(name: str, dtype: Any, mode: str | None, scales: tuple[int, ...], groups: Any, **changes: Any) -> Case:
    given = {
        "x": numbers((5, 16), dtype, 1, 3),
        "smoothScalesOptional": numbers(scales, FLOAT, 2, 5),
        "offsetsOptional": numbers(scales, FLOAT, 3, 5) if mode == "static" else None,
        "groupIndexOptional": None if groups is None else np.array(groups, np.int32),
        "activateLeft": True,
        "quantModeOptional": mode,
        "groupListType": 0,
        "dstType": 2,
        "yOut": np.full((5, 8), 9, np.int8),
        "scaleOut": np.full(5, 9, FLOAT),
        **changes,
    }
    return complete(name, given)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("mode", ["static", "dynamic", None])
@pytest.mark.parametrize("scales", [(2, 8), (2,)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["aclnnSwiGluQuant", "aclnnSwiGluQuantV2"])
def test_swiglu_quant(name: str, dtype: Any, scales: tuple[int, ...], mode: str | None, left: bool, device: int) -> None:
    case = swiglu_quant(name, dtype, mode, scales, [1, 4], activateLeft=left)
    x = case.arguments["x"].astype(np.float64)
    gate, linear = (x[:, :8], x[:, 8:]) if left else (x[:, 8:], x[:, :8])
    group = [0, 1, 1, 1]
    factors = case.arguments["smoothScalesOptional"].astype(np.float64).reshape(2, -1)[group]
    values = (gate * sigma(gate) * linear)[:4] * factors
    found = case.results(3)
    assert (found[0][4] == 9).all()  # behind the groups nothing is written
    if mode == "static":
        near(found[0][:4], values + case.arguments["offsetsOptional"].astype(np.float64).reshape(2, -1)[group], np.int8)
        return
    largest = np.abs(values).max(axis=1)
    np.testing.assert_allclose(found[1], [*(127 / largest), 9], rtol=1e-6)
    near(found[0][:4], values * 127 / largest[:, None], np.int8)


def test_swiglu_quant_of_counts_and_without_groups(device: int) -> None:
    ends = swiglu_quant("aclnnSwiGluQuantV2", FLOAT, "dynamic", (2, 8), [1, 4]).results()
    counts = swiglu_quant("aclnnSwiGluQuantV2", FLOAT, "dynamic", (2, 8), [1, 3], groupListType=1).results()
    for one, other in zip(ends, counts, strict=True):
        assert_equal(one, other)
    case = swiglu_quant("aclnnSwiGluQuantV2", FLOAT, "static", (1, 8), None)
    x = case.arguments["x"].astype(np.float64)
    values = x[:, :8] * sigma(x[:, :8]) * x[:, 8:] * case.arguments["smoothScalesOptional"] + case.arguments["offsetsOptional"]
    near(case.results()[0], values, np.int8)


def bare(name: str, given: dict[str, Any], tensors: dict[str, tuple[Array, int]]) -> dict[str, Array]:
    """A call with contiguous tensors of types that numpy lacks; what they hold behind it, as it lies in memory."""
    places: dict[str, tuple[int, int]] = {}
    for parameter, (array, code) in tensors.items():
        address, _ = acl.aclrtMalloc(array.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        acl.aclrtMemcpy(address, array.nbytes, array, array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
        shape = [*array.shape[:-1], array.shape[-1] * (2 if code == INT4.code else 1)]
        places[parameter] = address, acl.aclCreateTensor(shape, code, None, 0, acl.ACL_FORMAT_ND, shape, address)
    operator = aclnnop.find(name)
    values = {**given, **{parameter: tensor for parameter, (_, tensor) in places.items()}}
    _, executor, status = operator.get_workspace_size(*(values[parameter] for parameter in operator.names))
    assert status == 0
    assert operator.run(None, 0, executor, None) == 0
    assert acl.aclrtSynchronizeDevice() == 0
    for parameter, (address, tensor) in places.items():
        array = tensors[parameter][0]
        acl.aclrtMemcpy(array, array.nbytes, address, array.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
        acl.aclDestroyTensor(tensor)
        acl.aclrtFree(address)
    return {parameter: array for parameter, (array, _) in tensors.items()}


def test_swiglu_quant_to_four_bits(device: int) -> None:
    """Two numbers to a byte, the first in the low half."""
    x = numbers((2, 8), FLOAT, 1, 3)
    null = dict.fromkeys(("smoothScalesOptional", "offsetsOptional", "groupIndexOptional"))
    given = {**null, "activateLeft": True, "quantModeOptional": "dynamic", "groupListType": 0, "dstType": 29}
    tensors = {"x": (x, 0), "yOut": (np.zeros((2, 2), np.uint8), INT4.code), "scaleOut": (np.zeros(2, FLOAT), 0)}
    packed = bare("aclnnSwiGluQuantV2", given, tensors)["yOut"]
    codes = np.stack((packed & 15, packed >> 4), axis=2).reshape(2, 4).astype(np.int8)
    wide = x.astype(np.float64)
    values = wide[:, :4] * sigma(wide[:, :4]) * wide[:, 4:]
    expected = np.rint(values * 7 / np.abs(values).max(axis=1, keepdims=True))
    assert_equal(np.where(codes > 7, codes - 16, codes), expected)


def hifloat8(code: int) -> float:
    """By the published table of fields: how long the exponent is, its sign and magnitude, and what is left for the significand."""
    sign, rest = -1.0 if code & 0x80 else 1.0, code & 0x7F
    if rest < 8:  # no exponent field: powers of two below all others
        return sign * 2.0 ** (rest - 23) if rest else 0.0
    for prefix, width, bits in ((0b11, 2, 4), (0b10, 2, 3), (0b01, 2, 2), (0b001, 3, 1), (0b0001, 4, 0)):
        if rest >> (7 - width) == prefix:
            digits = 7 - width - bits
            field = (rest >> digits) & ((1 << bits) - 1)
            negative = bits and field >> (bits - 1)
            magnitude = (1 << (bits - 1) | (field & ((1 << (bits - 1)) - 1))) if bits else 0
            return sign * 2.0 ** (-magnitude if negative else magnitude) * (1 + (rest & ((1 << digits) - 1)) / (1 << digits))
    raise AssertionError(code)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("mode", [2, 3])
def test_swiglu_group_quant_to_hifloat8(mode: int, grouped: bool, device: int, chip) -> None:
    chip(A950)
    case = group_quant(mode, FLOAT)
    counts = np.array([1, 2]) if grouped else None
    given = {name: value for name, value in case.arguments.items() if not isinstance(value, (np.ndarray, Meta))}
    factors = numbers((2 if grouped else 1,), FLOAT, 7)
    tensors = {
        "x": (case.arguments["x"], 0),
        "yOut": (np.zeros((4, 256), np.uint8), HIFLOAT8.code),
        "yScaleOut": (np.zeros(2 if grouped else 1, FLOAT), 0),
        "yOriginOut": (np.zeros((4, 256), FLOAT), 0),
        **({"groupIndexOptional": (counts, 9)} if counts is not None else {}),
        **({"scaleOptional": (factors, 0)} if mode == 2 else {}),
    }
    found = bare("aclnnSwigluGroupQuant", given, tensors)
    x = case.arguments["x"].astype(np.float64)
    taken, group = (3, [0, 1, 1]) if grouped else (4, [0] * 4)
    values = (x[:, :256] * sigma(x[:, :256]) * x[:, 256:])[:taken]
    scales = 1 / factors.astype(np.float64)
    if mode == 3:
        largest = [np.abs(values[[row for row in range(taken) if group[row] == one]]).max() for one in range(len(factors))]
        scales = np.array(largest) / 15
        np.testing.assert_allclose(found["yScaleOut"], scales, rtol=1e-6)
    wanted = values / scales[group][:, None]
    stored = np.array([[hifloat8(int(code)) for code in row] for row in found["yOut"]])
    table = np.array([hifloat8(code) for code in range(256) if code not in (0x80, 0x6F, 0xEF)])  # without NaN and infinities
    nearest = np.abs(wanted[..., None] - table).min(axis=2)
    np.testing.assert_allclose(np.abs(stored[:taken] - wanted), nearest, rtol=1e-5, atol=1e-9)
    assert not found["yOut"][taken:].any()


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"x": None}, ACLNN_ERR_PARAM_NULLPTR),
        ({"yOut": None}, ACLNN_ERR_PARAM_NULLPTR),
        ({"scaleOut": None}, ACLNN_ERR_PARAM_NULLPTR),
        ({"x": Meta((5, 15), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ({"x": Meta((16,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ({"x": Meta((5, 16), np.int32)}, ACLNN_ERR_PARAM_INVALID),
        ({"quantModeOptional": "dynamic_msd"}, ACLNN_ERR_PARAM_INVALID),
        ({"groupListType": 2}, ACLNN_ERR_PARAM_INVALID),
        ({"dstType": 3}, ACLNN_ERR_PARAM_INVALID),
        ({"dstType": 29}, ACLNN_ERR_PARAM_INVALID),
        ({"smoothScalesOptional": Meta((3,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ({"groupIndexOptional": Meta((2,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
        ({"scaleOut": Meta((4,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ({"yOut": Meta((5, 16), np.int8)}, ACLNN_ERR_PARAM_INVALID),
    ],
    ids=str,
)
def test_swiglu_quant_refusals(changes: dict[str, Any], status: int) -> None:
    assert swiglu_quant("aclnnSwiGluQuantV2", FLOAT, "dynamic", (2, 8), [1, 4], **changes).status() == status


def group_quant(mode: int = 0, dtype: Any = FLOAT16, target: Any = E4M3, **changes: Any) -> Case:
    scales = {0: np.full((4, 2), 9, FLOAT), 1: np.ones((4, 4, 2), E8M0)}.get(mode, np.full(1, 9, FLOAT))
    given = {
        "x": numbers((4, 512), dtype, 1, 3),
        "weightOptional": None,
        "groupIndexOptional": None,
        "scaleOptional": None,
        "dstType": {E5M2: 35, E4M3: 36}[target],
        "quantMode": mode,
        "blockSize": 0,
        "roundScale": mode == 1,
        "clampLimit": -1.0,
        "dstTypeMax": 15.0,
        "outputOrigin": False,
        "yOut": np.zeros((4, 256), target) if mode < 2 else Meta((4, 256), HIFLOAT8.code),
        "yScaleOut": scales,
        "yOriginOut": np.full((4, 256), 9, dtype),
        **changes,
    }
    return complete("aclnnSwigluGroupQuant", given)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("target", [E4M3, E5M2], ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
def test_swiglu_group_quant(dtype: Any, target: Any, mode: int, rounded: bool, full: bool, device: int, chip) -> None:
    if mode == 1 and not rounded:
        return
    chip(A950)
    case = group_quant(mode, dtype, target, roundScale=rounded)
    if full:
        weight = numbers((4,), FLOAT, 5)
        case = case.but(weightOptional=weight, groupIndexOptional=np.array([2, 1]), clampLimit=2.0, outputOrigin=True)
    x = case.arguments["x"].astype(np.float64)
    a, b, taken = (np.minimum(x[:, :256], 2), np.clip(x[:, 256:], -2, 2), 3) if full else (x[:, :256], x[:, 256:], 4)
    unit = (a * sigma(a) * b)[:taken]
    values = unit * weight.astype(np.float64)[:taken, None] if full else unit
    y, scales, origin = case.results(3)
    if full:
        np.testing.assert_allclose(origin[:3].astype(np.float64), unit, rtol=2.0**-7, atol=1e-4)
    assert (origin[taken if full else 0 :] == 9).all()
    block = 128 if mode == 0 else 32
    blocks = values.reshape(taken, -1, block)
    expected = np.maximum(np.abs(blocks).max(axis=2), 1e-4) / MOST[target]
    if rounded:
        expected = 2.0 ** np.ceil(np.log2(expected))
    np.testing.assert_allclose(scales.astype(np.float64).reshape(4, -1)[:taken], expected, rtol=1e-6)
    near(y[:taken].reshape(blocks.shape), blocks / expected[..., None], target)


@pytest.mark.parametrize(
    ("mode", "changes", "status"),
    [
        (0, {"x": None}, ACLNN_ERR_PARAM_NULLPTR),
        (0, {"yOriginOut": None}, ACLNN_ERR_PARAM_NULLPTR),
        (0, {"quantMode": 4}, ACLNN_ERR_PARAM_INVALID),
        (0, {"blockSize": 32}, ACLNN_ERR_PARAM_INVALID),
        (0, {"blockSize": 128}, 0),
        (1, {"blockSize": 32}, 0),
        (1, {"roundScale": False}, ACLNN_ERR_PARAM_INVALID),
        (0, {"dstType": 34}, ACLNN_ERR_PARAM_INVALID),
        (0, {"clampLimit": 0.0}, ACLNN_ERR_PARAM_INVALID),
        (0, {"x": Meta((4, 511), np.float16)}, ACLNN_ERR_PARAM_INVALID),
        (0, {"x": Meta((4, 512), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        (0, {"yScaleOut": Meta((4, 2), E8M0)}, ACLNN_ERR_PARAM_INVALID),
        (0, {"yScaleOut": Meta((4, 3), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        (0, {"weightOptional": Meta((5,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        (0, {"groupIndexOptional": Meta((5,), np.int32)}, ACLNN_ERR_PARAM_INVALID),
        (0, {"groupIndexOptional": Meta((0,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
        (3, {"groupIndexOptional": Meta((0,), np.int64), "yScaleOut": Meta((0,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        (2, {}, ACLNN_ERR_PARAM_NULLPTR),
        (2, {"scaleOptional": Meta((1,), np.float32)}, 0),
        (2, {"scaleOptional": Meta((2,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        (3, {}, 0),
        (3, {"yScaleOut": Meta((2,), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        (3, {"yOut": Meta((4, 256), E4M3)}, ACLNN_ERR_PARAM_INVALID),
    ],
    ids=str,
)
def test_swiglu_group_quant_rules(mode: int, changes: dict[str, Any], status: int, chip) -> None:
    chip(A950)
    assert group_quant(mode, **changes).status() == status
