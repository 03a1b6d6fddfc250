"""Gated units that are dequantised before or quantised behind: against the documents' formulas in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnnop
from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_RUNTIME_ERROR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.test_activations import sigma
from tests.operators.test_quantisation import CODES, GRIDS, MOST, TOP, mx_code, mx_scales, packed_call

E4M3, E5M2, E8M0 = (np.dtype(getattr(ml_dtypes, f"float8_{name}")) for name in ("e4m3fn", "e5m2", "e8m0fnu"))
NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"
NULL, INVALID, LATE, ELSEWHERE = (
    ACLNN_ERR_PARAM_NULLPTR,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_INNER_TILING_ERROR,
    ACLNN_ERR_RUNTIME_ERROR,
)
Chip = Callable[[str], None]


def complete(name: str, given: dict[str, Any]) -> Case:
    return Case(name, {one: given[one] for one in aclnnop.find(name).names})


def halves(x: Array, axis: int, left: bool) -> tuple[Array, Array]:
    first, second = np.split(x.astype(np.float64), 2, axis=axis)
    return (first, second) if left else (second, first)


def unit(mode: int, x: Array, axis: int = -1, left: bool = True, limit: float = 2.0, alpha: float = 1.3, bias: float = 0.5) -> Array:
    """The formulas of all modes."""
    if mode == 1:
        gate, linear = x.astype(np.float64)[..., ::2], x.astype(np.float64)[..., 1::2]
    else:
        gate, linear = halves(x, axis, left)
    if mode == 0:
        return gate / (1 + np.exp(-gate)) * linear
    if mode == 3:
        return np.minimum(gate * sigma(gate), limit) * np.clip(linear, -limit, limit)
    gate = np.minimum(gate, limit)
    return gate * sigma(alpha * gate) * (np.clip(linear, -limit, limit) + bias)


def assert_microscaled(values: Array, y: Array, scales: Array, axis: int, algorithm: int, target: Any) -> None:
    """Every block of 32 along an axis, by the formulas; halfway numbers may go either way."""
    lines, found = (np.moveaxis(one, axis, -1).reshape(-1, one.shape[axis]) for one in (values.astype(np.float32), y.astype(np.float64)))
    codes = np.moveaxis(scales.view(np.uint8), axis, -2).reshape(len(lines), -1)
    off = 0
    for line, result, stored in zip(lines, found, codes, strict=True):
        count = -(-line.size // 32)
        expected = [mx_code(line[32 * i : 32 * i + 32], TOP[target], MOST[target], algorithm, 0.0) for i in range(count)]
        assert stored.tolist() == expected + [0] * (stored.size - count)
        exact = np.clip(line / np.exp2(np.repeat(expected, 32)[: line.size] - 127.0), -MOST[target], MOST[target])
        wanted = exact.astype(np.float32).astype(target).astype(np.float64)
        assert (np.abs(result - wanted) <= np.abs(wanted) * 0.26 + 2.0**-9).all()
        off += int((result != wanted).sum())
    assert off <= 0.01 * values.size


def mx_unit(mode: int, axis: int = -1, target: Any = E4M3, dtype: Any = BF16, shape: tuple[int, ...] = (6, 140), **changes: Any) -> Case:
    split = changes.get("activateDim", -1)
    half = tuple(length // 2 if place == split % len(shape) else length for place, length in enumerate(shape))
    given = {
        "x": numbers(shape, dtype, 1, 4),
        "groupIndexOptional": None,
        "activateDim": -1,
        "activateLeft": True,
        "swigluMode": mode,
        "clampLimit": 2.0,
        "gluAlpha": 1.3,
        "gluBias": 0.5,
        "groupMode": 0,
        "axis": axis,
        "dstType": CODES[target],
        "roundModeOptional": "rint",
        "scaleAlg": 0,
        "maxDtypeValue": 0.0,
        "yOut": np.full(half, 9, target),
        "mxscaleOut": mx_scales(half, axis % len(shape), 32),
    }
    return complete("aclnnSwigluMxQuant", {**given, **changes})


@pytest.mark.parametrize("algorithm", [0, 1])
@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize(
    ("mode", "axis", "split", "left"),
    [(0, -1, -1, True), (0, -2, -1, False), (0, 1, -2, True), (1, -1, -1, False), (1, -2, 2, True), (2, -1, -1, False), (3, 2, -1, True)],
)
def test_swiglu_mx_quant(mode: int, axis: int, split: int, left: bool, target: Any, algorithm: int, device: int, chip: Chip) -> None:
    chip(NEWEST)
    for dtype in (FLOAT16, BF16):
        case = mx_unit(mode, axis, target, dtype, (2, 34, 70), activateDim=split, activateLeft=left, scaleAlg=algorithm)
        y, scales = case.results(3)
        assert_microscaled(unit(mode, case.arguments["x"], split, left), y, scales, axis % 3, algorithm, target)


@pytest.mark.parametrize(("groups", "kind"), [([1, 3], 0), ([1, 4], 1), ([2, 9], 0)], ids=str)
@pytest.mark.parametrize("axis", [-1, -2])
def test_swiglu_mx_quant_of_groups(groups: list[int], kind: int, axis: int, device: int, chip: Chip) -> None:
    """Rows behind them stay as they were."""
    chip(NEWEST)
    case = mx_unit(0, axis, groupIndexOptional=np.array(groups), groupMode=kind)
    taken = 4 if max(groups) < 9 else 6
    y, scales = case.results(2)
    kept = scales[:taken] if axis == -1 else scales
    assert_microscaled(unit(0, case.arguments["x"])[:taken], y[:taken], kept, axis % 2, 0, E4M3)
    assert (y[taken:].astype(float) == 9).all()
    if axis == -1:
        assert (scales.view(np.uint8)[taken:] == 5).all()


def test_the_documented_swiglu_mx_quant(device: int, chip: Chip) -> None:
    """The page's program: numbers so small that all of them vanish."""
    chip(NEWEST)
    x = np.tile(np.arange(64, dtype=np.uint16), 2).reshape(2, 64).view(BF16)
    y, scales = mx_unit(
        1, x=x, clampLimit=7.0, gluAlpha=1.0, gluBias=1.702, yOut=np.zeros((2, 32), E4M3), mxscaleOut=mx_scales((2, 32), 1, 32)
    ).results()
    assert_microscaled(unit(1, x, limit=7.0, alpha=1.0, bias=1.702), y, scales, 1, 0, E4M3)


def test_swiglu_mx_quant_to_four_bits(device: int, chip: Chip) -> None:
    chip(NEWEST)
    x = numbers((3, 128), FLOAT16, 1, 3)
    given = {
        **mx_unit(2, dtype=FLOAT16, shape=(3, 128), x=x).arguments,
        "dstType": 40,
        "roundModeOptional": "floor",
        "groupIndexOptional": np.array([2]),
    }
    found = packed_call("aclnnSwigluMxQuant", given, {"yOut": np.full((3, 32), 0x77, np.uint8)}, code=40)
    codes = np.stack((found["yOut"] & 15, found["yOut"] >> 4), axis=-1).reshape(3, 64)
    assert (codes[2] == 7).all()
    grid = np.array(GRIDS[40])
    signed = np.sort(np.concatenate((-grid, grid)))
    values = unit(2, x)
    exponents = found["mxscaleOut"].view(np.uint8).reshape(3, 2)
    for row, block in np.ndindex(2, 2):
        part = slice(32 * block, 32 * block + 32)
        assert exponents[row, block] == mx_code(values[row, part].astype(np.float32), 2, 0, 0)
        exact = np.clip(values[row, part] / 2.0 ** (int(exponents[row, block]) - 127), -6, 6)
        expected = np.array([signed[signed <= one].max() for one in exact])
        assert (np.where(codes[row, part] & 8, -1, 1) * grid[codes[row, part] & 7] == expected).all()


def both_ways(backward: bool, groups: Any = (40, 100), target: Any = E4M3, rows: int = 100, length: int = 64, **changes: Any) -> Case:
    width = length if backward else length // 2
    places = -(-rows // 64) if groups is None else rows // 64 + len(groups)
    given = {
        "x": numbers((rows, length), BF16, 1, 3),
        "yGrad": numbers((rows, length // 2), BF16, 2, 3),
        "groupIndexOptional": None if groups is None else np.array(groups),
        "activateLeft": True,
        "roundModeOptional": "rint",
        "scaleAlg": 1,
        "dstType": CODES[target],
        "dstDtype": CODES[target],
        "maxDtypeValue": 0.0,
        "y1Out": np.zeros((rows, width), target),
        "mxscale1Out": mx_scales((rows, width), 1, 32),
        "y2Out": np.zeros((rows, width), target),
        "mxscale2Out": np.full((places, width, 2), 5, np.uint8).view(E8M0),
        **changes,
    }
    return complete("aclnnSwigluBackwardMxQuantWithDualAxis" if backward else "aclnnSwigluMxQuantWithDualAxis", given)


def gradient(x: Array, grad: Array, left: bool) -> Array:
    a, b = halves(x, -1, left)
    g, s = grad.astype(np.float64), sigma(a)
    pair = (g * b * s * (1 + a - a * s), g * a * s)
    return np.concatenate(pair if left else pair[::-1], axis=-1)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("groups", [None, (40, 100), (64, 64, 65, 100)], ids=str)
@pytest.mark.parametrize("backward", [False, True])
def test_both_ways(backward: bool, groups: Any, left: bool, device: int, chip: Chip) -> None:
    """A group's scales begin at its first row's pair of blocks, plus the number of groups before it."""
    chip(NEWEST)
    for target, algorithm in ((E4M3, 1),) if backward else ((E4M3, 1), (E5M2, 0)):
        case = both_ways(backward, groups, target, activateLeft=left, scaleAlg=algorithm)
        x = case.arguments["x"]
        values = gradient(x, case.arguments.get("yGrad"), left) if backward else unit(0, x, -1, left)
        y1, scales1, y2, scales2 = case.results(2)
        assert_microscaled(values, y1, scales1, 1, algorithm, target)
        start, used = 0, set()
        for number, stop in enumerate(groups or (100,)):
            place, pairs = start // 64 + number, -(-(stop - start) // 64)
            if pairs:
                assert_microscaled(values[start:stop], y2[start:stop], scales2[place : place + pairs], 0, algorithm, target)
            used |= set(range(place, place + pairs))
            start = stop
        assert all(not scales2.view(np.uint8)[place].any() for place in set(range(len(scales2))) - used)


def test_gradients_of_several_matrices(device: int, chip: Chip) -> None:
    chip(NEWEST)
    shape = (2, 3, 64)
    changes = {"x": numbers(shape, FLOAT16, 1, 3), "yGrad": numbers((2, 3, 32), FLOAT16, 2, 3)}
    changes |= {"y1Out": np.zeros(shape, E4M3), "mxscale1Out": mx_scales(shape, 2, 32)}
    changes |= {"y2Out": np.zeros(shape, E4M3), "mxscale2Out": mx_scales(shape, 1, 32)}
    y1, scales1, y2, scales2 = both_ways(True, None, **changes).results(1)
    values = gradient(changes["x"], changes["yGrad"], True)
    assert_microscaled(values, y1, scales1, 2, 1, E4M3)
    assert_microscaled(values, y2, scales2, 1, 1, E4M3)


def situ(x: Array, beta: float, bound: float, left: bool) -> Array:
    gate, up = halves(x, -1, left)
    return beta * np.tanh(gate / beta) * sigma(gate) * (bound * np.tanh(up / bound) if bound > 0 else up)


def situ_mx(shape: tuple[int, ...] = (4, 128), dtype: Any = BF16, target: Any = E4M3, **changes: Any) -> Case:
    half = (*shape[:-1], shape[-1] // 2)
    given = {"x": numbers(shape, dtype, 1, 3), "beta": 1.0, "linearBeta": 0.0, "activateLeft": False, "axis": -1, "dstType": CODES[target]}
    given |= {"roundModeOptional": "rint", "yOut": np.zeros(half, target), "yScaleOut": mx_scales(half, len(half) - 1, 32)}
    return complete("aclnnSituMxQuant", {**given, **changes})


@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize(
    ("shape", "beta", "bound", "left"), [((4, 128), 1.0, 0.0, False), ((2, 3, 66), -2.0, 1.5, True), ((10,), 0.5, -1.0, True)]
)
def test_situ_mx_quant(shape: tuple[int, ...], beta: float, bound: float, left: bool, target: Any, device: int, chip: Chip) -> None:
    chip(NEWEST)
    for dtype in (FLOAT16, BF16):
        case = situ_mx(shape, dtype, target, beta=beta, linearBeta=bound, activateLeft=left)
        y, scales = case.results(2)
        assert_microscaled(situ(case.arguments["x"], beta, bound, left), y, scales, len(shape) - 1, 0, target)


def situ_quant(dtype: Any = np.int8, mode: str | None = "dynamic", shape: tuple[int, ...] = (6, 16), **changes: Any) -> Case:
    whole, half = np.dtype(dtype).kind == "i", shape[-1] // 2
    given = {
        "x": np.random.default_rng(1).integers(-100, 100, shape).astype(dtype) if whole else numbers(shape, dtype, 1, 4),
        "weightScaleOptional": np.linspace(0.02, 0.1, shape[-1], dtype=FLOAT) if whole else None,
        "activationScaleOptional": np.array([0.5], FLOAT) if dtype is np.int32 else None,
        "biasOptional": numbers((shape[-1],), FLOAT, 2) if whole else None,
        "quantScaleOptional": np.linspace(0.1, 0.3, half, dtype=FLOAT) if dtype is np.int8 else None,
        "quantOffsetOptional": numbers((half,), FLOAT, 3, 5) if mode == "static" else None,
        "groupIndexOptional": None,
        "beta": 4.0,
        "linearBeta": 25.0,
        "activateLeft": True,
        "quantTypeOptional": mode,
        "yOut": np.full((*shape[:-1], half), 9, np.int8),
        "yScaleOut": np.full(shape[:-1], 9, FLOAT),
    }
    return complete("aclnnDequantSituQuant", {**given, **changes})


def cut(values: Array) -> Array:
    """Towards zero, of FLOAT."""
    return np.clip(np.trunc(values.astype(np.float32).astype(float)), -128, 127)


def assert_integers(found: Array, expected: Array) -> None:
    assert (np.abs(found.astype(float) - expected) <= 1).all()
    assert (found == expected).mean() > 0.97


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize(
    ("dtype", "mode", "shape"),
    [
        (np.int8, "dynamic", (2, 3, 16)),
        (np.int8, "static", (6, 16)),
        (np.int32, None, (6, 16)),
        (BF16, "dynamic", (6, 16)),
        (FLOAT16, None, (6, 16)),
    ],
    ids=str,
)
def test_dequant_situ_quant(dtype: Any, mode: str | None, shape: tuple[int, ...], left: bool, device: int) -> None:
    case = situ_quant(dtype, mode, shape, activateLeft=left)
    given = {name: value.astype(np.float64) if isinstance(value, np.ndarray) else value for name, value in case.arguments.items()}
    values = given["x"]
    if given["weightScaleOptional"] is not None:
        values = values * given["weightScaleOptional"] * (0.5 if dtype is np.int32 else 1) + given["biasOptional"]
    values = situ(values, 4.0, 25.0, left)
    y, scales = case.results(2)
    if mode == "static":
        assert_integers(y, cut(values / given["quantScaleOptional"] + given["quantOffsetOptional"]))
        return
    if given["quantScaleOptional"] is not None:
        values = values * given["quantScaleOptional"]
    largest = np.abs(values).max(axis=-1) / 127
    np.testing.assert_allclose(scales, largest, rtol=1e-6)
    assert_integers(y, cut(values / largest[..., None]))
    assert (np.abs(y.astype(int)).max(axis=-1) == 127).all()


def test_dequant_situ_quant_of_groups(device: int) -> None:
    y, scales = situ_quant(np.int32, groupIndexOptional=np.array([1, 3])).results()
    full = situ_quant(np.int32).results()
    assert (y[:4] == full[0][:4]).all()
    assert (y[4:] == 9).all()
    assert (scales[4:] == 9).all()


def swiglu_quant(dtype: Any = np.int32, mode: str | None = "dynamic", groups: Any = (2, 3), version: int = 2, **changes: Any) -> Case:
    whole, count = dtype is np.int32, 1 if groups is None else len(groups)
    static = mode != "dynamic"
    given = {
        "x": np.random.default_rng(1).integers(-100, 100, (6, 64)).astype(dtype) if whole else numbers((6, 64), dtype, 1, 4),
        "weightScaleOptional": np.abs(numbers((count, 64), FLOAT, 2)) / 8 if whole else None,
        "activationScaleOptional": np.linspace(0.3, 0.9, 6, dtype=FLOAT) if whole else None,
        "biasOptional": numbers((count, 64), FLOAT, 3) if whole else None,
        "quantScaleOptional": numbers((count,) if static else (count, 32), FLOAT, 4, 9),
        "quantOffsetOptional": numbers((count,), FLOAT, 5, 9) if static else None,
        "groupIndexOptional": None if groups is None else np.array(groups),
        "activateLeft": True,
        "quantModeOptional": mode,
        "dstType": 2,
        "roundModeOptional": None,
        "activateDim": -1,
        "swigluMode": 0,
        "clampLimit": 2.0,
        "gluAlpha": 1.3,
        "gluBias": 0.5,
        "yOut": np.full((6, 32), 9, np.int8),
        "scaleOut": np.full(6, 9, FLOAT),
        **changes,
    }
    return complete("aclnnDequantSwigluQuant" + ("V2" if version == 2 else ""), given)


@pytest.mark.parametrize("bias", [FLOAT, FLOAT16, BF16, np.int32], ids=str)
@pytest.mark.parametrize("mode", ["static", "dynamic", None])
@pytest.mark.parametrize(("version", "swiglu", "left"), [(1, 0, False), (2, 0, True), (2, 1, True), (2, 2, False), (2, 3, True)])
def test_dequant_swiglu_quant(version: int, swiglu: int, left: bool, mode: str | None, bias: Any, device: int) -> None:
    case = swiglu_quant(mode=mode, version=version, swigluMode=swiglu, activateLeft=left, biasOptional=numbers((2, 64), bias, 3, 9))
    given = {name: value.astype(np.float64) if isinstance(value, np.ndarray) else value for name, value in case.arguments.items()}
    group = [0, 0, 1, 1, 1]
    scale = given["weightScaleOptional"][group] * given["activationScaleOptional"][:5, None]
    added = given["biasOptional"][group]
    values = given["x"][:5]
    values = (values + added) * scale if bias is np.int32 else values * scale + added
    values = unit(swiglu, values, -1, left) * given["quantScaleOptional"].reshape(2, -1)[group]
    y, scales = case.results(2)
    assert (y[5] == 9).all()
    if mode != "dynamic":
        assert_integers(y[:5], np.clip(np.rint(values + given["quantOffsetOptional"][group][:, None]), -128, 127))
        assert (scales == 9).all()
        return
    largest = np.abs(values).max(axis=1) / 127
    np.testing.assert_allclose(scales, [*largest, 9], rtol=1e-6)
    assert_integers(y[:5], np.rint(values / largest[:, None]))


def test_the_documented_dequant_swiglu_quant(device: int) -> None:
    """The page's program: FLOAT16 from the memory of FLOAT, static, the right half is the gate."""
    x = np.arange(64, dtype=FLOAT).view(np.float16)[:64].reshape(2, 32)
    one = np.ones(1, FLOAT)
    case = swiglu_quant(FLOAT16, "static", None, 1, x=x, activateLeft=False, quantScaleOptional=one, quantOffsetOptional=one)
    y, _ = case.but(yOut=np.zeros((2, 16), np.int8), scaleOut=np.zeros(2, FLOAT)).results()
    assert_integers(y, np.clip(np.rint(unit(0, x, -1, False) + 1), -128, 127))


@pytest.mark.parametrize("target", [E4M3, E5M2], ids=str)
def test_dequant_swiglu_quant_on_the_newest(target: Any, device: int, chip: Chip) -> None:
    """Floats, pairs of a group and its size, and another axis."""
    chip(NEWEST)
    pairs = np.array([[1, 2], [0, 3]])
    plain = swiglu_quant(groups=(2, 3), dstType=CODES[target], yOut=np.zeros((6, 32), target))
    turned = plain.but(
        groupIndexOptional=pairs,
        **{n: plain.arguments[n][::-1].copy() for n in ("weightScaleOptional", "biasOptional", "quantScaleOptional")},
    )
    for one, other in zip(plain.results(), turned.results(), strict=True):
        assert one.tobytes() == other.tobytes()
    y = plain.results()[0]
    assert (np.abs(y[:5].astype(float)).max(axis=1) == MOST[target]).all()
    x = numbers((4, 6, 3), FLOAT16, 1, 3)
    across = swiglu_quant(
        FLOAT16,
        "static",
        None,
        x=x,
        activateDim=-2,
        dstType=CODES[target],
        yOut=np.zeros((4, 3, 3), target),
        scaleOut=np.zeros((4, 3), FLOAT),
    )
    values = unit(0, x, 1) * float(across.arguments["quantScaleOptional"][0]) + float(across.arguments["quantOffsetOptional"][0])
    np.testing.assert_allclose(
        across.results(1)[0].astype(float), values.astype(np.float32).astype(target).astype(float), rtol=0.26, atol=1e-3
    )
    assert turned.but(groupIndexOptional=np.array([[2, 2], [0, 3]])).refused() == 507015


@pytest.mark.parametrize("rounding", ["rint", "round", "floor", "ceil", "trunc", None])
def test_dequant_swiglu_quant_to_four_bits(rounding: str | None, device: int, chip: Chip) -> None:
    chip(NEWEST)
    given = {**swiglu_quant(FLOAT16, "dynamic", None).arguments, "dstType": 40, "roundModeOptional": rounding}
    found = packed_call("aclnnDequantSwigluQuantV2", given, {"yOut": np.zeros((6, 16), np.uint8)}, code=40)
    codes = np.stack((found["yOut"] & 15, found["yOut"] >> 4), axis=-1).reshape(6, 32)
    grid = np.array(GRIDS[40])
    result = np.where(codes & 8, -1, 1) * grid[codes & 7]
    values = unit(0, given["x"]) * given["quantScaleOptional"].astype(np.float64)
    largest = np.abs(values).max(axis=1) / 6
    np.testing.assert_allclose(found["scaleOut"], largest, rtol=1e-6)
    exact = np.clip(values / largest[:, None], -6, 6)
    signed = np.sort(np.concatenate((-grid, grid)))
    below = np.array([signed[signed <= one + 1e-6].max() for one in exact.ravel()]).reshape(exact.shape)
    above = np.array([signed[signed >= one - 1e-6].min() for one in exact.ravel()]).reshape(exact.shape)
    near = np.where(exact - below < above - exact, below, above)
    expected = {"floor": below, "ceil": above, "trunc": np.where(exact < 0, above, below)}.get(rounding or "rint", near)
    assert (result == expected).mean() > 0.99


def advance(**changes: Any) -> Case:
    given = {
        "inputTokens": np.arange(6),
        "sampledTokenIds": np.array([[11, -1], [12, 13], [-1, -1]]),
        "inputPositions": np.array([1, 2, 4, 5, 0, 1]),
        "seqLens": np.zeros(6, np.int64),
        "slotMapping": np.zeros(6, np.int64),
        "blockTables": 10 * np.arange(15).reshape(3, 5),
        "specToken": np.array([[21], [22], [23]]),
        "acceptedNum": np.array([0, 1, 1]),
        "numSeqs": 3,
        "numQueries": 3,
        "blockSize": 2,
    }
    return complete("aclnnAdvanceStepV2", {**given, **changes})


@pytest.mark.parametrize("flat", [True, False])
def test_advance_step(flat: bool, device: int) -> None:
    names = ("inputTokens", "inputPositions", "seqLens", "slotMapping")
    case = advance()
    case = case if flat else case.but(**{name: case.arguments[name].reshape(3, 2) for name in names})
    tokens, positions, lengths, slots = (one.ravel().tolist() for one in case.results(1))
    assert tokens == [11, 21, 13, 22, -1, 23]
    assert positions == [2, 3, 6, 7, 2, 3]
    assert lengths == [3, 4, 7, 8, 3, 4]
    assert slots == [20, 21, 160, 161, 220, 221]  # of blocks 10, 80 and 110


@pytest.mark.parametrize("accepted", [-9, 9])
def test_a_position_without_a_block(accepted: int, device: int) -> None:
    assert advance(acceptedNum=np.array([0, accepted, 0])).refused() == 507015


def m(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


I8, I64 = np.int8, np.int64
ERRORS: list[tuple[Callable[[], Case], str, dict[str, Any], int]] = [
    *((lambda: mx_unit(0), NEWEST, {name: None}, NULL) for name in ("x", "yOut", "mxscaleOut")),
    (lambda: mx_unit(0), NEWEST, {"x": m(6, 140)}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"x": m(140, dtype=BF16)}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"x": m(6, 141, dtype=BF16)}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"activateDim": 2}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"axis": -3}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"swigluMode": 4}, INVALID),
    (lambda: mx_unit(1), NEWEST, {"clampLimit": 0.0}, INVALID),
    (lambda: mx_unit(1), NEWEST, {"clampLimit": float("inf")}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"clampLimit": 0.0}, 0),
    (lambda: mx_unit(2), NEWEST, {"axis": -2}, INVALID),
    (lambda: mx_unit(3), NEWEST, {"activateDim": -2}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"groupMode": 2}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"groupIndexOptional": m(257, dtype=I64)}, INVALID),
    (lambda: mx_unit(0, -2, shape=(2, 4, 6)), NEWEST, {"groupIndexOptional": m(2, dtype=I64)}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"dstType": 2}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"dstType": 35}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"roundModeOptional": "floor"}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"scaleAlg": 2}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"scaleAlg": 1, "dstType": 40, "yOut": Meta((6, 70), 40)}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"maxDtypeValue": -1.0}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"yOut": m(6, 71, dtype=E4M3)}, INVALID),
    (lambda: mx_unit(0), NEWEST, {"mxscaleOut": m(6, 3, 2, dtype=E8M0)}, INVALID),
    *(
        (lambda back=back: both_ways(back), NEWEST, changes, status)
        for back in (False, True)
        for changes, status in (
            ({"x": None}, NULL),
            ({"mxscale2Out": None}, NULL),
            ({"x": m(100, 64)}, INVALID),
            ({"x": m(100, 63, dtype=BF16)}, INVALID),
            ({"x": m(0, 64, dtype=BF16)}, INVALID),
            ({"groupIndexOptional": m(0, dtype=I64)}, INVALID),
            ({"roundModeOptional": "round"}, INVALID),
            ({"scaleAlg": 2}, INVALID),
            ({"maxDtypeValue": 1.0}, INVALID),
            ({"y2Out": m(100, 31, dtype=E4M3)}, INVALID),
            ({"mxscale2Out": m(2, 32, 2, dtype=E8M0)}, INVALID),
            ({"mxscale1Out": m(100, 2, 2, dtype=E8M0)}, INVALID),
        )
    ),
    (lambda: both_ways(False), NEWEST, {"dstType": 35}, INVALID),
    (lambda: both_ways(True), NEWEST, {"dstDtype": 35}, INVALID),
    (lambda: both_ways(True), NEWEST, {"scaleAlg": 0}, INVALID),
    (lambda: both_ways(True), NEWEST, {"yGrad": None}, NULL),
    (lambda: both_ways(True), NEWEST, {"yGrad": m(100, 32, dtype=FLOAT16)}, INVALID),
    (lambda: both_ways(False, length=66), NEWEST, {"dstType": 40, **{f"y{n}Out": Meta((100, 33), 40) for n in (1, 2)}}, INVALID),
    (lambda: both_ways(True, length=66), NEWEST, {}, INVALID),
    (lambda: both_ways(False), USUAL, {}, ELSEWHERE),
    (lambda: both_ways(True), USUAL, {}, ELSEWHERE),
    *((situ_mx, NEWEST, {name: None}, NULL) for name in ("x", "yOut", "yScaleOut")),
    (situ_mx, NEWEST, {"x": m(0, 128, dtype=BF16)}, INVALID),
    (situ_mx, NEWEST, {"x": m(4, 128)}, INVALID),
    (situ_mx, NEWEST, {"x": m(4, 127, dtype=BF16)}, INVALID),
    (situ_mx, NEWEST, {"axis": 1}, INVALID),
    (situ_mx, NEWEST, {"dstType": 40}, INVALID),
    (situ_mx, NEWEST, {"roundModeOptional": "floor"}, INVALID),
    (situ_mx, NEWEST, {"beta": 0.0}, INVALID),
    (situ_mx, NEWEST, {"yScaleOut": m(4, 2, 2, dtype=E8M0)}, INVALID),
    (situ_mx, USUAL, {}, ELSEWHERE),
    *((situ_quant, USUAL, {name: None}, NULL) for name in ("x", "yOut", "yScaleOut", "weightScaleOptional")),
    (lambda: situ_quant(np.int32), USUAL, {"activationScaleOptional": None}, NULL),
    (lambda: situ_quant(mode="static"), USUAL, {"quantScaleOptional": None}, NULL),
    (lambda: situ_quant(mode="static"), USUAL, {"quantOffsetOptional": None}, 0),
    (situ_quant, USUAL, {"x": m(0, 16, dtype=I8)}, INVALID),
    (situ_quant, USUAL, {"x": m(6, 16)}, INVALID),
    (situ_quant, USUAL, {"x": m(6, 15, dtype=I8)}, INVALID),
    (situ_quant, USUAL, {"quantTypeOptional": "other"}, INVALID),
    (situ_quant, USUAL, {"beta": 0.0}, INVALID),
    (situ_quant, USUAL, {"weightScaleOptional": m(3)}, INVALID),
    (situ_quant, USUAL, {"activationScaleOptional": m(1)}, INVALID),
    (situ_quant, USUAL, {"groupIndexOptional": m(1, dtype=I64)}, INVALID),
    (situ_quant, USUAL, {"quantScaleOptional": m(3)}, INVALID),
    (lambda: situ_quant(np.int32), USUAL, {"quantScaleOptional": m(8)}, INVALID),
    (lambda: situ_quant(np.int32), USUAL, {"activationScaleOptional": m(6)}, INVALID),
    (lambda: situ_quant(BF16), USUAL, {"x": m(2, 3, 16, dtype=BF16)}, INVALID),
    (situ_quant, USUAL, {"yScaleOut": m(5)}, INVALID),
    (situ_quant, NEWEST, {}, ELSEWHERE),
    *(
        (lambda version=version: swiglu_quant(version=version), USUAL, changes, status)
        for version in (1, 2)
        for changes, status in (
            ({"x": None}, NULL),
            ({"yOut": None}, NULL),
            ({"scaleOut": None}, NULL),
            ({"weightScaleOptional": None}, NULL),
            ({"quantScaleOptional": None, "quantModeOptional": "static"}, NULL),
            ({"quantScaleOptional": None}, 0),
            ({"x": m(6, 64)}, INVALID),
            ({"x": m(64, dtype=np.int32)}, INVALID),
            ({"x": m(6, 64, dtype=BF16)}, INVALID),
            ({"quantModeOptional": "other"}, INVALID),
            ({"weightScaleOptional": m(64)}, INVALID),
            ({"activationScaleOptional": m(5)}, INVALID),
            ({"activationScaleOptional": m(6, 1)}, 0),
            ({"biasOptional": m(2, 63)}, INVALID),
            ({"quantScaleOptional": m(2, 31)}, INVALID),
            ({"yOut": m(6, 31, dtype=I8)}, INVALID),
            ({"scaleOut": m(5)}, INVALID),
        )
    ),
    (
        lambda: swiglu_quant(BF16, groups=None, version=1, quantScaleOptional=None),
        USUAL,
        {"x": m(6, 20000, dtype=BF16), "yOut": m(6, 10000, dtype=I8)},
        LATE,
    ),
    (swiglu_quant, USUAL, {"dstType": 36}, INVALID),
    (swiglu_quant, USUAL, {"roundModeOptional": "floor"}, INVALID),
    (swiglu_quant, USUAL, {"activateDim": 0}, INVALID),
    (swiglu_quant, USUAL, {"activateDim": 2}, INVALID),
    (swiglu_quant, USUAL, {"quantOffsetOptional": m(2)}, INVALID),
    (swiglu_quant, USUAL, {"groupIndexOptional": m(2, 2, dtype=I64)}, INVALID),
    (swiglu_quant, USUAL, {"swigluMode": 4}, INVALID),
    (swiglu_quant, USUAL, {"swigluMode": 1, "activateLeft": False}, INVALID),
    (swiglu_quant, USUAL, {"swigluMode": 2, "clampLimit": -1.0}, INVALID),
    (swiglu_quant, NEWEST, {"activateDim": 0}, INVALID),
    (
        lambda: swiglu_quant(BF16, groups=None, quantScaleOptional=None, x=numbers((6, 62), BF16, 1)),
        USUAL,
        {"yOut": m(6, 31, dtype=I8)},
        INVALID,
    ),
    *((advance, USUAL, {name: None}, NULL) for name in ("inputTokens", "specToken", "acceptedNum")),
    (advance, USUAL, {"specToken": m(3, 1)}, INVALID),
    (advance, USUAL, {"numQueries": 2}, LATE),
    (advance, USUAL, {"numSeqs": 0, "numQueries": 0}, LATE),
    (advance, USUAL, {"inputTokens": m(5, dtype=I64)}, LATE),
    (advance, USUAL, {"sampledTokenIds": m(3, 1, dtype=I64)}, LATE),
    (advance, USUAL, {"acceptedNum": m(2, dtype=I64)}, LATE),
    (advance, USUAL, {"specToken": m(3, 2, dtype=I64)}, LATE),
    (advance, USUAL, {"blockSize": 0}, LATE),
]


@pytest.mark.parametrize(("make", "on", "changes", "status"), ERRORS, ids=[f"{n}-{list(one[2])}" for n, one in enumerate(ERRORS)])
def test_rules(make: Callable[[], Case], on: str, changes: dict[str, Any], status: int, chip: Chip) -> None:
    chip(on)
    assert make().but(**changes).status() == status
