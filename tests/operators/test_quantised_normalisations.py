"""Normalisations that quantise their results: the pages' formulas in float64, number by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core.dtypes import FLOAT4_E1M2, FLOAT4_E2M1, FLOAT8_E4M3FN, FLOAT8_E5M2
from aclnnop.quant.blocks import in_blocks
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.goldens import Arguments, Golden, Reference, call, check_examples, moments, shaped

INVALID, NULLPTR, TILING = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACLNN_ERR_INNER_TILING_ERROR
INNER = acl.ACLNN_ERR_INNER_NULLPTR
E4M3, E5M2, E8M0 = (np.dtype(one) for one in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu))
MOST = {np.dtype(np.int8): 127.0, np.dtype(np.int32): 7.0, E4M3: 448.0, E5M2: 57344.0}
SOC_950 = "Ascend950PR_9589"


def unpacked(stored: Array) -> Array:
    """Eight numbers of four bits in each of 32, the first in the lowest bits."""
    shifts = np.arange(0, 32, 4)
    nibbles = stored[..., np.newaxis].astype(np.int64) >> shifts & 15
    return np.where(nibbles > 7, nibbles - 16, nibbles).reshape(*stored.shape[:-1], -1)


def assert_rounded(found: Array, exact: Array) -> None:
    """The nearest numbers of the type; where two are almost as near, either."""
    if found.dtype in (np.int8, np.int32, np.uint8):
        limits = np.iinfo(found.dtype)
        low, high = (-8, 7) if found.dtype == np.int32 and found.shape != exact.shape else (limits.min, limits.max)
        values = unpacked(found) if found.shape != exact.shape else found.astype(np.float64)
        assert (np.abs(values - np.clip(exact, low, high)) <= 0.5 + 1e-4 * (1 + np.abs(exact))).all()
        return
    wanted = exact.astype(np.float32).astype(found.dtype).astype(np.float64)
    close = np.abs(found.astype(np.float64) - exact) <= np.abs(wanted - exact) * (1 + 1e-3) + 1e-6
    assert close.all()


def compare(case: Case, golden: Golden, layout: int = 0) -> None:
    """As for other normalisations, but for rounded results: their exact values are known."""
    outputs = [name for name, kind in case.declared.parameters if kind.io != "in" and case.arguments[name] is not None]
    for name, found in zip(outputs, case.results(layout), strict=True):
        expected = golden.get(name)
        if expected is None:
            assert found.tobytes() == np.ascontiguousarray(case.arguments[name]).tobytes(), name
        elif found.dtype in MOST or found.dtype == np.uint8:
            assert_rounded(found, np.asarray(expected))
        else:
            value, largest = expected if isinstance(expected, tuple) else (expected, None)
            assert_accurate(
                found, np.asarray(value).reshape(found.shape), largest=None if largest is None else np.broadcast_to(largest, found.shape)
            )


def rms(x: Array, gamma: Array, epsilon: float) -> tuple[Array, Array]:
    rstd = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon)
    return x * rstd * gamma, rstd


def or_one(value: Any) -> Any:
    return 1 if value is None else value


def or_zero(value: Any) -> Any:
    return 0 if value is None else value


def scaled(y: Array, scale: Any, offset: Any, divides: bool) -> Array:
    return (y / or_one(scale) if divides else y * or_one(scale)) + or_zero(offset)


def add_rms_norm_quant(a: Arguments) -> Golden:
    x, size = a["x1"] + a["x2"], np.abs(a["x1"]) + np.abs(a["x2"])
    plain, _ = rms(x, a["gamma"], a["epsilon"])
    y = plain + or_zero(a.get("betaOptional"))
    found: Golden = {"y1Out": scaled(y, a["scales1"], a["zeroPoints1Optional"], a["divMode"]), "xOut": (x, size)}
    if a["scales2Optional"] is not None:
        found["y2Out"] = scaled(y, a["scales2Optional"], a["zeroPoints2Optional"], a["divMode"])
    return found | {"rmsNormOut": (plain, np.abs(plain) + 1)}


def by_rows(values: Array, most: float) -> tuple[Array, Array]:
    scale = np.abs(values).max(axis=-1, keepdims=True) / most
    return values / scale, scale[..., 0]


def most_of(output: Array) -> float:
    return MOST[np.dtype(np.int8)] if output.dtype == np.float64 else MOST[output.dtype]


def add_rms_norm_dynamic_quant(a: Arguments) -> Golden:
    """``kinds``: the types of both results, which float64 arguments have lost."""
    x, size = a["x1"] + a["x2"], np.abs(a["x1"]) + np.abs(a["x2"])
    y = rms(x, a["gamma"], a["epsilon"])[0] + or_zero(a.get("betaOptional"))
    mask = a.get("outputMaskOptional")
    both = a["smoothScale1Optional"] is not None and a["smoothScale2Optional"] is not None
    wanted = (True, both) if mask is None else mask
    found: Golden = {"xOut": (x, size)}
    columns = a["y1Out"].shape[-1]
    for place, takes in enumerate(wanted, 1):
        if takes:
            most = 7.0 if columns != x.shape[-1] else a["most"]
            found[f"y{place}Out"], found[f"scale{place}Out"] = by_rows(y * or_one(a[f"smoothScale{place}Optional"]), most)
    return found


def rms_norm_quant(a: Arguments) -> Golden:
    y, rstd = rms(a["x"], a["gamma"].reshape(-1), a["epsilon"])
    beta = a.get("beta", a.get("betaOptional"))
    y = y if beta is None else y + beta.reshape(-1)
    found: Golden = {"y": scaled(y, a["scale"], a.get("offset", a.get("offsetOptional")), a.get("divMode", True))}
    return found | ({"rstd": rstd} if a.get("outputRstd") else {})


def rms_norm_dynamic_quant(a: Arguments) -> Golden:
    y = (rms(a["x"], a["gamma"], a["epsilon"])[0] + or_zero(a["betaOptional"])) * or_one(a["smoothScalesOptional"])
    values, scale = by_rows(y, 127.0)
    return {"yOut": values, "scaleOut": scale}


def rms_norm_grad_quant(a: Arguments) -> Golden:
    rstd = a["rstd"][..., np.newaxis]
    unit, weighed = a["x"] * rstd, a["dy"] * a["gamma"]
    gradient = (weighed - unit * (weighed * unit).mean(axis=-1, keepdims=True)) * rstd
    product = unit * a["dy"]
    return {
        "dxOut": scaled(gradient, a["scalesX"], a["offsetXOptional"], a["divMode"]),
        "dgammaOut": (product.sum(axis=(0, 1)), np.abs(product).max()),
    }


def layer(x: Array, gamma: Any, beta: Any, epsilon: float) -> Array:
    mean, _, rstd = moments(x, (x.ndim - 1,), epsilon)
    return (x - mean) * rstd * gamma + beta


def add_layer_norm_quant(a: Arguments) -> Golden:
    x = a["x1"] + a["x2"] + or_zero(a["biasOptional"])
    size = np.abs(a["x1"]) + np.abs(a["x2"]) + np.abs(or_zero(a["biasOptional"]))
    y = layer(x, a["gamma"].reshape(-1), a["beta"].reshape(-1), a["epsilon"])
    found: Golden = {"xOut": (x, size)} if a["additionalOutput"] else {}
    if "layernormRes" in a:
        found["layernormRes"] = (y, np.abs(y) + 2)
    for place in (1, 2):
        scale, point = a[f"scales{place}Optional"], a[f"zeroPoints{place}Optional"]
        if place == 2 and scale is None:
            continue
        if a["quantMode"] == "static":
            found[f"y{place}Out"] = scaled(y, scale, point, a["divMode"])
        else:
            found[f"y{place}Out"], found[f"outScales{place}Out"] = by_rows(y * or_one(scale), 127.0)
    return found


def layer_norm_quant(a: Arguments) -> Golden:
    y = layer(a["x"], a["gamma"].reshape(-1), a["beta"].reshape(-1), a["epsilon"])
    return {"res": scaled(y, a["scale"], a["zeroPointsOptional"], True)}


def ada_layer_norm_quant(a: Arguments) -> Golden:
    x = a["x"]
    scale, shift = (a[name].reshape(x.shape[0], 1, -1) for name in ("scale", "shift"))
    y = layer(x, or_one(a["weightOptional"]), or_zero(a["biasOptional"]), a["epsilon"]) * (1 + scale) + shift
    values, found = by_rows(y * or_one(a["smoothScalesOptional"]), a["most"])
    return {"out": values, "quantScale": found}


def group_norm_silu_quant(a: Arguments) -> Golden:
    x = a["self"]
    rows = x.reshape(x.shape[0], a["group"], -1)
    mean, _, rstd = moments(rows, (2,), a["eps"])
    y = ((rows - mean) * rstd).reshape(x.shape) * shaped(a["gammaOptional"], x, 1, 1) + shaped(a["betaOptional"], x, 1, 0)
    scale = a["quantScale"] if a["quantScale"].size == 1 else shaped(a["quantScale"], x, 1, 1)
    return {"out": y / (1 + np.exp(-y)) / scale, "meanOut": (mean[..., 0], np.abs(x).max()), "rstdOut": rstd[..., 0]}


def quantized_batch_norm(a: Arguments) -> Golden:
    x = (a["input"] - float(a["inputZeroPoint"])) * float(a["inputScale"])
    y = (x - shaped(a["mean"], x, 1, 0)) / np.sqrt(shaped(a["var"], x, 1, 0) + a["epsilon"])
    y = y * shaped(a["weight"], x, 1, 1) + shaped(a["bias"], x, 1, 0)
    return {"output": y / float(a["outputScale"]) + float(a["outputZeroPoint"])}


REFERENCES: dict[str, Reference] = {
    "aclnnAddRmsNormQuant": add_rms_norm_quant,
    "aclnnAddRmsNormQuantV2": add_rms_norm_quant,
    "aclnnRmsNormQuant": rms_norm_quant,
    "aclnnRmsNormQuantV3": rms_norm_quant,
    "aclnnRmsNormDynamicQuant": rms_norm_dynamic_quant,
    "aclnnRmsNormGradQuant": rms_norm_grad_quant,
    "aclnnAddLayerNormQuant": add_layer_norm_quant,
    "aclnnAddLayerNormQuantV2": add_layer_norm_quant,
    "aclnnLayerNormQuant": layer_norm_quant,
    "aclnnGroupNormSiluQuant": group_norm_silu_quant,
    "aclnnQuantizedBatchNorm": quantized_batch_norm,
}


@pytest.mark.parametrize("operator", REFERENCES)
def test_examples(operator: str, device: int, chip: Callable[[str], None]) -> None:
    check_examples(operator, REFERENCES[operator], chip, compare)


ROWS = {"aclnnAddRmsNormDynamicQuant": "y1Out", "aclnnAddRmsNormDynamicQuantV2": "y1Out", "aclnnAdaLayerNormQuant": "out"}
ROW_REFERENCES = {**dict.fromkeys(ROWS, add_rms_norm_dynamic_quant), "aclnnAdaLayerNormQuant": ada_layer_norm_quant}


@pytest.mark.parametrize("operator", ROWS)
def test_scales_of_rows(operator: str, device: int, chip: Callable[[str], None]) -> None:
    """The largest magnitude of a row becomes the type's largest number, or 127 and 7."""

    def compared(case: Case, golden: Golden, layout: int) -> None:
        given = {name: value.astype(np.float64) if isinstance(value, np.ndarray) else value for name, value in case.arguments.items()}
        golden = ROW_REFERENCES[operator]({**given, "most": most_of(case.arguments[ROWS[operator]])})
        compare(case, golden, layout)

    check_examples(operator, lambda _: {}, chip, compared)


def test_rows_of_zeros(device: int) -> None:
    """Nothing to scale: scale and results are 0."""
    case = call("aclnnRmsNormDynamicQuant").but(x=np.zeros((2, 3, 16), np.float16))
    y, scale = case.results()
    assert not y.any()
    assert not scale.any()


def test_what_is_no_number_is_zero(device: int) -> None:
    x = numbers((2, 3, 16), FLOAT16, 1)
    x[0, 0, 0] = np.nan
    y = call("aclnnRmsNormQuant").but(x=x).run()
    assert not y[0, 0].any()
    assert y[0, 1].any()


def test_results_saturate(device: int) -> None:
    case = call("aclnnRmsNormQuant").but(scale=np.full((1,), 1e-3, np.float16), beta=np.zeros(16, np.float16))
    y = case.run()
    assert set(np.unique(y)) <= {-128, 127, *range(-127, 127)}
    assert {-128, 127} <= set(np.unique(y))


# Blocks that share a power of two


def mx_golden(values: Array, target: np.dtype[Any], algorithm: int) -> tuple[Array, Array]:
    """Element by element: the exponents of blocks, biased, and the quotients."""
    emax = {E4M3: 8, E5M2: 15}[target]
    length = values.shape[-1]
    quotients, codes = np.zeros_like(values), np.zeros((*values.shape[:-1], -(-length // 64) * 2), np.uint8)
    for index in np.ndindex(*values.shape[:-1]):
        for block in range(-(-length // 32)):
            part = values[index][block * 32 : (block + 1) * 32]
            largest = float(np.abs(part).max())
            exact = np.floor(np.log2(largest)) - emax if algorithm == 0 else np.ceil(np.log2(largest / MOST[target]))
            exponent = int(exact)
            codes[(*index, block)] = exponent + 127
            quotients[index][block * 32 : (block + 1) * 32] = np.clip(part / 2.0**exponent, -MOST[target], MOST[target])
    return quotients, codes


@pytest.mark.parametrize("operator", ["aclnnRmsNormDynamicMxQuant", "aclnnAddRmsNormDynamicMxQuant"])
def test_blocks(operator: str, device: int, chip: Callable[[str], None]) -> None:
    chip(SOC_950)
    for number in range(3):
        case = call(operator, number)
        a = {name: value.astype(np.float64) if isinstance(value, np.ndarray) else value for name, value in case.arguments.items()}
        x = a["x"] if "x" in a else a["x1"] + a["x2"]
        values, rstd = rms(x, a["gamma"], a["epsilon"])
        values = values + or_zero(a["beta"])
        quotients, codes = mx_golden(values, case.arguments["yOut"].dtype, a["scaleAlg"])
        found = dict(
            zip([n for n, k in case.declared.parameters if k.io != "in" and case.arguments[n] is not None], case.results(3), strict=True)
        )
        assert_rounded(found["yOut"], quotients)
        assert found["mxscaleOut"].view(np.uint8).reshape(codes.shape).tolist() == codes.tolist()
        if case.arguments["rstdOut"] is not None:
            assert_accurate(found["rstdOut"], rstd)
        if "xOut" in found:
            assert_accurate(found["xOut"], x, largest=np.abs(a["x1"]) + np.abs(a["x2"]))


def test_rounding_is_to_the_nearest_where_no_mode_is_given(device: int, chip: Callable[[str], None]) -> None:
    chip(SOC_950)
    case = call("aclnnRmsNormDynamicMxQuant")
    a = {name: case.arguments[name].astype(np.float64) for name in ("x", "gamma", "beta")}
    values = rms(a["x"], a["gamma"], case.arguments["epsilon"])[0] + a["beta"]
    quotients, _ = mx_golden(values, case.arguments["yOut"].dtype, 0)
    assert_rounded(case.but(roundMode=None).results(3)[0], quotients)


FOURS = {FLOAT4_E2M1: [0, 0.5, 1, 1.5, 2, 3, 4, 6], FLOAT4_E1M2: [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]}


@pytest.mark.parametrize("mode", ["rint", "round", "floor"])
@pytest.mark.parametrize("dtype", FOURS, ids=str)
def test_four_bits(dtype: Any, mode: str) -> None:
    """Two to a byte, the first in the low half; each mode against a search over all sixteen numbers."""
    table = np.array(FOURS[dtype])
    values = np.concatenate((table, -table, (table[:-1] + table[1:]) / 2, -(table[:-1] + table[1:]) / 2, [0.1, -0.1]))[:32]
    values = np.resize(values, 32)
    values[0] = table[-1]
    stored, scales = in_blocks(values, dtype, rounds_up=False, mode=mode)
    nibbles = np.stack((stored & 15, stored >> 4), axis=-1).reshape(-1)
    found = np.where(nibbles & 8, -1, 1) * table[nibbles & 7]
    assert scales.tolist() == [127, 0]
    numbers_of_type = np.unique(np.concatenate((table, -table)))
    for value, result in zip(values, found, strict=True):
        if mode == "floor":
            assert result == max(one for one in numbers_of_type if one <= value)
            continue
        distance = np.abs(numbers_of_type - value).min()
        nearest = [one for one in numbers_of_type if np.abs(one - value) == distance]
        even = [one for one in nearest if np.flatnonzero(table == abs(one))[0] % 2 == 0]
        assert result == (max(nearest, key=abs) if mode == "round" or len(nearest) == 1 else even[0])


@pytest.mark.parametrize("dtype", [FLOAT8_E4M3FN, FLOAT8_E5M2], ids=str)
def test_blocks_without_a_largest_number(dtype: Any) -> None:
    """What is not finite makes its block 0 with a scale of 255; a block of zeros has the smallest scale."""
    values = np.ones(96)
    values[3], values[40:64], values[32:40] = np.inf, 0, 0
    stored, scales = in_blocks(values, dtype, rounds_up=False, mode="rint")
    assert scales.tolist() == [255, 0, 127 - {FLOAT8_E4M3FN: 8, FLOAT8_E5M2: 15}[dtype], 0]
    assert not stored[:64].astype(np.float32).any()
    assert (stored[64:].astype(np.float32) == 2.0 ** {FLOAT8_E4M3FN: 8, FLOAT8_E5M2: 15}[dtype]).all()


def meta(*shape: int, dtype: Any = FLOAT16) -> Meta:
    return Meta(shape, dtype)


ERRORS: dict[str, list[tuple[Arguments, int, str]]] = {
    "aclnnAddRmsNormQuant": [
        ({"x2": meta(2, 3, 16, dtype=BF16)}, INVALID, "x2 has dtype"),
        ({"scales1": meta(16, dtype=BF16), "scales2Optional": None}, INVALID, "cannot be combined"),
        ({"scales1": meta(8, dtype=FLOAT)}, INVALID, "scales1 has shape"),
        ({"gamma": meta(8)}, INVALID, "gamma has shape"),
        ({"scales2Optional": None}, INVALID, "zeroPoints2Optional is given"),
        ({"y1Out": meta(6, 16, dtype=np.int8)}, INVALID, "y1Out has shape"),
    ],
    "aclnnAddRmsNormQuantV2": [
        ({"betaOptional": meta(8)}, INVALID, "betaOptional has shape"),
        ({"rmsNormOut": meta(6, 16)}, INVALID, "rmsNormOut has shape"),
    ],
    "aclnnAddRmsNormDynamicQuant": [
        ({"smoothScale1Optional": None}, INVALID, "smoothScale2Optional is given"),
        ({"gamma": meta(8)}, INVALID, "gamma has shape"),
        ({"scale1Out": meta(5, dtype=FLOAT)}, INVALID, "scale1Out has shape"),
        ({"y1Out": meta(6, 16, dtype=np.int8)}, INVALID, "y1Out has shape"),
    ],
    "aclnnAddRmsNormDynamicQuantV2": [
        ({"smoothScale1Optional": None}, INVALID, "smoothScale2Optional is given"),
        ({"outputMaskOptional": [True]}, INVALID, "outputMaskOptional has 1 elements"),
        ({"outputMaskOptional": [True, False]}, INVALID, "outputMaskOptional is false"),
        ({"y2Out": meta(2, 3, 2, dtype=np.int32)}, INVALID, "y2Out has dtype"),
        ({"y1Out": meta(2, 3, 4, dtype=np.int32), "y2Out": meta(2, 3, 4, dtype=np.int32)}, INVALID, "y1Out has shape"),
    ],
    "aclnnRmsNormQuant": [
        ({"gamma": meta(1, 16, dtype=BF16)}, INVALID, "gamma has dtype"),
        ({"scale": meta(1, dtype=BF16)}, INVALID, "cannot be combined"),
        ({"gamma": meta(2, 16)}, INVALID, "gamma has shape"),
        ({"scale": meta(16), "offset": meta(16, dtype=np.int8)}, INVALID, "scale has 16 elements"),
        ({"offset": meta(2, dtype=np.int8)}, INVALID, "offset has shape"),
        ({"y": meta(6, 16, dtype=np.int8)}, INVALID, "y has shape"),
        ({"x": meta(0, 16), "y": meta(0, 16, dtype=np.int8)}, INVALID, "x has shape"),
    ],
    "aclnnRmsNormQuantV3": [({"rstd": None}, NULLPTR, "rstd must not"), ({"rstd": meta(2, 3, dtype=FLOAT)}, INVALID, "rstd has shape")],
    "aclnnRmsNormDynamicQuant": [
        ({"dstType": 3}, TILING, "dstType is 3"),
        ({"gamma": meta(8)}, TILING, "gamma has shape"),
        ({"scaleOut": meta(5, dtype=FLOAT)}, TILING, "scaleOut has shape"),
        ({"yOut": meta(6, 16, dtype=np.int8)}, TILING, "yOut has shape"),
    ],
    "aclnnRmsNormGradQuant": [
        ({"quantMode": "dynamic"}, INVALID, "quantMode is 'dynamic'"),
        ({"scalesX": meta(2, dtype=FLOAT)}, INVALID, "scalesX has shape"),
        ({"rstd": meta(5, dtype=FLOAT)}, INVALID, "rstd has 5 elements"),
        ({"gamma": meta(16)}, INVALID, "gamma has dtype"),
    ],
    "aclnnAddLayerNormQuant": [
        ({"quantMode": "none"}, INVALID, "quantMode is 'none'"),
        ({"scales1Optional": None}, INVALID, "do not go together"),
        ({"zeroPoints2Optional": meta(16, dtype=FLOAT)}, INVALID, "do not go together"),
        ({"gamma": meta(8, dtype=FLOAT)}, INVALID, "gamma has shape"),
        ({"beta": meta(8, dtype=FLOAT)}, INVALID, "beta has shape"),
        ({"quantMode": "dynamic"}, INVALID, "x1 has dtype"),
        ({"biasOptional": meta(3, 16, dtype=FLOAT)}, INVALID, "biasOptional has shape"),
        ({"scales1Optional": meta(1, dtype=FLOAT)}, INVALID, "scales1Optional has shape"),
        ({"gamma": meta(1, 16, dtype=FLOAT)}, INVALID, "gamma has shape"),
    ],
    "aclnnAddLayerNormQuantV2": [
        ({"quantMode": "dynamic"}, INVALID, "x1 has dtype"),
        ({"scales2Optional": meta(1, dtype=FLOAT16)}, INVALID, "scales2Optional has dtype"),
        ({"layernormRes": meta(6, 16, dtype=FLOAT)}, INVALID, "layernormRes has shape"),
    ],
    "aclnnLayerNormQuant": [
        ({"quantMode": 1}, INVALID, "quantMode is 1"),
        ({"gamma": meta(1, 8)}, INVALID, "gamma has shape"),
        ({"beta": meta(16)}, INVALID, "beta has shape"),
        ({"scale": meta(2)}, INVALID, "scale has 2 elements"),
        ({"zeroPointsOptional": meta(2, dtype=np.int8)}, INVALID, "zeroPointsOptional has shape"),
        ({"res": meta(6, 16, dtype=np.int8)}, INVALID, "res has shape"),
    ],
    "aclnnAdaLayerNormQuant": [
        ({"quantMode": "static"}, INVALID, "quantMode is 'static'"),
        ({"quantOffsetOptional": meta(2, 3)}, INVALID, "quantOffsetOptional is given"),
        ({"quantScale": meta(6, dtype=FLOAT)}, INVALID, "quantScale has shape"),
        ({"smoothScalesOptional": meta(8)}, INVALID, "smoothScalesOptional has shape"),
    ],
    "aclnnGroupNormSiluQuant": [
        ({"activateSilu": False}, INVALID, "activateSilu is false"),
        ({"quantScale": meta(2, dtype=FLOAT)}, INVALID, "quantScale has 2 elements"),
        ({"eps": 0.0}, INVALID, "eps is 0.0"),
    ],
    "aclnnQuantizedBatchNorm": [
        ({"mean": meta(4, dtype=FLOAT)}, INVALID, "mean has shape"),
        ({"inputZeroPoint": np.int32(128)}, INVALID, "inputZeroPoint is 128"),
        ({"outputZeroPoint": np.int32(-129)}, INVALID, "outputZeroPoint is -129"),
        ({"output": meta(2, 3, 2, 4, dtype=np.uint8)}, INVALID, "output has dtype"),
    ],
    "aclnnRmsNormDynamicMxQuant": [
        ({"rstdOut": None}, NULLPTR, "rstdOut must not"),
        ({"dstType": 35}, INNER, "yOut has dtype"),
        ({"scaleAlg": 2}, INNER, "scaleAlg is 2"),
        ({"roundMode": "floor"}, INNER, "roundMode is 'floor'"),
        ({"gamma": meta(8)}, INNER, "gamma has shape"),
        ({"mxscaleOut": meta(2, 3, 1, 2, dtype=E8M0)}, INNER, "mxscaleOut has shape"),
        ({"rstdOut": meta(2, 3, dtype=FLOAT)}, INNER, "rstdOut has shape"),
    ],
    "aclnnAddRmsNormDynamicMxQuant": [
        ({"x2": meta(2, 3, 69)}, INNER, "x2 has shape"),
        ({"xOut": meta(2, 3, 69)}, INNER, "xOut has shape"),
        ({"roundMode": None}, INNER, "roundMode is None"),
    ],
}


@pytest.mark.parametrize(
    ("operator", "changes", "status", "text"),
    [pytest.param(operator, *line, id=f"{operator}-{line[2]}") for operator, lines in ERRORS.items() for line in lines],
)
def test_errors(operator: str, changes: Arguments, status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


def test_rules_of_scales_of_rows_behind_a_sum(chip: Callable[[str], None]) -> None:
    """Zero points, other types than that of the rows and several dimensions belong to given scales only."""
    chip(SOC_950)
    examples = aclnnop.find("aclnnAddLayerNormQuant").examples()
    shown = Case("aclnnAddLayerNormQuant", next(one for one in examples if one["quantMode"] == "dynamic"))
    assert shown.status() == 0
    for bad, text in (
        ({"zeroPoints1Optional": meta(16)}, "do not go together"),
        ({"scales1Optional": meta(16, dtype=FLOAT)}, "scales1Optional has dtype"),
        ({"gamma": meta(3, 16), "beta": meta(3, 16)}, "gamma has 2 dimensions"),
        ({"outScales1Out": meta(2, 3, 1, dtype=FLOAT)}, "outScales1Out has shape"),
    ):
        assert shown.but(**bad).status() == INVALID
        assert text in message()


def test_an_unknown_chip_is_an_invalid_parameter_behind_a_sum(chip: Callable[[str], None]) -> None:
    chip("Ascend910B1")
    assert call("aclnnAddLayerNormQuant").status() == INVALID


@pytest.mark.parametrize(
    "changes",
    [
        {"additionalOutput": True},
        {"divMode": True},
        {"scales2Optional": np.full((1,), 4, np.float32)},
        {"scales1Optional": numbers((1, 16), FLOAT, 5, 9)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_sum_of_any_mode_on_every_chip(changes: Arguments, device: int) -> None:
    """The page says that A2 has one mode only, and names no error for the others."""
    case = call("aclnnAddLayerNormQuantV2").but(**changes)
    given = {name: value.astype(np.float64) if isinstance(value, np.ndarray) else value for name, value in case.arguments.items()}
    compare(case, add_layer_norm_quant(given))


@pytest.mark.parametrize("bits", [acl.ACL_FLOAT4_E2M1, acl.ACL_FLOAT4_E1M2])
def test_rules_of_four_bits(bits: int, chip: Callable[[str], None]) -> None:
    chip(SOC_950)
    case = call("aclnnRmsNormDynamicMxQuant").but(dstType=bits, yOut=Meta((2, 3, 70), bits), roundMode="floor")
    assert case.status() == 0
    assert case.but(scaleAlg=1).status() == INNER
    assert case.but(roundMode="hybrid").status() == INNER


PRODUCTS = {
    "aclnnAddRmsNormQuant": {"950", "A3", "A2", "310P"},
    "aclnnAddRmsNormDynamicQuantV2": {"950", "A3", "A2"},
    "aclnnRmsNormQuant": {"950", "A3", "A2", "310P", "310B"},
    "aclnnRmsNormDynamicQuant": {"A3", "A2"},
    "aclnnGroupNormSiluQuant": {"A3", "A2"},
    "aclnnQuantizedBatchNorm": {"950", "A3", "A2"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    case = call(operator)
    if operator in ("aclnnAddRmsNormQuant", "aclnnRmsNormQuant"):
        chip("Ascend910A")
        assert case.status() != 0
    found = set()
    for name, short in (
        ("Ascend950PR_9589", "950"),
        ("Ascend910_9391", "A3"),
        ("Ascend910B1", "A2"),
        ("Ascend310P3", "310P"),
        ("Ascend310B1", "310B"),
    ):
        chip(name)
        found |= {short} if case.status() == 0 else set()
    assert found == products
