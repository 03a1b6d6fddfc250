"""Normalisations that are fused with sums, activations and other scales; modulation, divergence, softmax in windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts
from tests.operators.goldens import Arguments, Golden, Reference, call, check_examples, moments, normal_gradient, shaped, wide
from tests.operators.products import products_of

INVALID, NULLPTR, TILING = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACLNN_ERR_INNER_TILING_ERROR
INNER = acl.ACLNN_ERR_INNER_NULLPTR


def sigma(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def rms_rows(x: Array, gamma: Array, epsilon: float) -> tuple[Array, Array]:
    rows = x.reshape(-1, gamma.size)
    rms = np.sqrt((rows**2).mean(axis=1, keepdims=True) + epsilon)
    return (rows / rms).reshape(x.shape), 1 / rms


def kept(x: Array, gamma: Array) -> tuple[int, ...]:
    return (*x.shape[: x.ndim - gamma.ndim], *[1] * gamma.ndim)


def gemma_rms_norm(a: Arguments) -> Golden:
    rows, rstd = rms_rows(a["x"], a["gamma"], a["epsilon"])
    return {"yOut": (rows * (1 + a["gamma"]), np.abs(rows)), "rstdOut": rstd.reshape(kept(a["x"], a["gamma"]))}


def add_rms_norm_cast(a: Arguments) -> Golden:
    x, size = a["x1"] + a["x2"], np.abs(a["x1"]) + np.abs(a["x2"])
    rows, rstd = rms_rows(x, a["gamma"], a["epsilon"])
    y, large = rows * a["gamma"], size * rstd.max() * np.abs(a["gamma"])
    return {"y1Out": (y, large), "y2Out": (y, large), "rstdOut": rstd.reshape(kept(x, a["gamma"])), "xOut": (x, size)}


def inplace_add_rms_norm(a: Arguments) -> Golden:
    found = add_rms_norm_cast({**a, "x1": a["x1Ref"], "x2": a["x2Ref"]})
    return {"x1Ref": found["y1Out"], "x2Ref": found["xOut"], "rstdOut": found["rstdOut"]}


def layered(x: Array, size: Array, a: Arguments) -> tuple[Any, Any, Any]:
    axes = tuple(range(x.ndim - a["gamma"].ndim, x.ndim))
    mean, _, rstd = moments(x, axes, a["epsilon"])
    y = (x - mean) * rstd * a["gamma"] + a["beta"]
    large = (size + np.abs(mean)) * rstd * np.abs(a["gamma"]) + np.abs(a["beta"])
    shape = kept(x, a["gamma"])
    return (y, large), (mean.reshape(shape), size.max()), rstd.reshape(shape)


def add_layer_norm(a: Arguments) -> Golden:
    bias = 0 if a["biasOptional"] is None else a["biasOptional"]
    x, size = a["x1"] + a["x2"] + bias, np.abs(a["x1"]) + np.abs(a["x2"]) + np.abs(bias)
    y, mean, rstd = layered(x, size, a)
    return {"yOut": y, "meanOut": mean, "rstdOut": rstd, **({"xOut": (x, size)} if a["additionalOutput"] else {})}


def deep_norm(a: Arguments) -> Golden:
    x, size = a["x"] * a["alpha"] + a["gx"], np.abs(a["x"] * a["alpha"]) + np.abs(a["gx"])
    y, mean, rstd = layered(x, size, a)
    return {"yOut": y, "meanOut": mean, "rstdOut": rstd}


def layer_gradients(x: Array, a: Arguments) -> tuple[Any, Any, Any]:
    """With respect to the rows, gamma and beta."""
    gamma, dy = a["gamma"], a["dy"]
    front = tuple(range(x.ndim - gamma.ndim))
    unit = (x - a["mean"]) * a["rstd"]
    rows = normal_gradient(dy, x, a["mean"], a["rstd"], gamma, tuple(range(len(front), x.ndim)))
    product = (dy * unit).sum(axis=front), np.abs(dy * unit).max() * 4
    return rows, product, (dy.sum(axis=front), np.abs(dy).max())


def add_layer_norm_grad(a: Arguments) -> Golden:
    (rows, large), gamma, beta = layer_gradients(a["x1"] + a["x2"], a)
    more = 0 if a["dsumOptional"] is None else a["dsumOptional"]
    return {"dxOut": (rows + more, 4 * large + np.abs(more)), "dgammaOut": gamma, "dbetaOut": beta}


def deep_norm_grad(a: Arguments) -> Golden:
    (rows, large), gamma, beta = layer_gradients(a["x"] * a["alpha"] + a["gx"], a)
    return {"dxOut": (rows * a["alpha"], 4 * large), "dgxOut": (rows, 4 * large), "dgammaOut": gamma, "dbetaOut": beta}


def adaptive(a: Arguments, x: Array) -> tuple[Array, Array]:
    return tuple(a[name].reshape(*x.shape[:-2], 1, x.shape[-1]) for name in ("scale", "shift"))  # type: ignore[return-value]


def ada_layer_norm(a: Arguments) -> Golden:
    x = a["x"]
    scale, shift = adaptive(a, x)
    mean, _, rstd = moments(x, (x.ndim - 1,), a["epsilon"])
    weight = 1 if a["weightOptional"] is None else a["weightOptional"]
    bias = 0 if a["biasOptional"] is None else a["biasOptional"]
    values = ((x - mean) * rstd * weight + bias) * (1 + scale) + shift
    large = (np.abs((x - mean) * rstd * weight) + np.abs(bias) + 0.1) * (1 + np.abs(scale)) + np.abs(shift)
    return {"out": (values, large), "meanOutOptional": (mean, np.abs(x).max()), "rstdOutOptional": rstd}


def ada_layer_norm_backward(a: Arguments) -> Golden:
    dy, x, mean, rstd = a["gradOut"], a["input"], a["mean"], a["rstd"]
    scale, _ = adaptive(a, x)
    weight = 1 if a["weightOptional"] is None else a["weightOptional"]
    bias = 0 if a["biasOptional"] is None else a["biasOptional"]
    unit, outer = (x - mean) * rstd, dy * (1 + scale)
    of_scale = dy * (unit * weight + bias)
    front = tuple(range(x.ndim - 1))
    return {
        "gradInputOut": normal_gradient(outer, x, mean, rstd, np.asarray(weight), (x.ndim - 1,)),
        "gradScaleOut": (of_scale.sum(axis=-2).reshape(a["scale"].shape), np.abs(of_scale).max() * 2),
        "gradShiftOut": (dy.sum(axis=-2).reshape(a["scale"].shape), np.abs(dy).max()),
        "gradWeightOut": ((outer * unit).sum(axis=front), np.abs(outer * unit).max()),
        "gradBiasOut": (outer.sum(axis=front), np.abs(outer).max()),
    }


def grouped(x: Array, group: int, gamma: Any, beta: Any, eps: float, slope: float | None) -> tuple[Any, Any, Any]:
    rows = x.reshape(x.shape[0], group, -1)
    mean, _, rstd = moments(rows, (2,), eps)
    values = ((rows - mean) * rstd).reshape(x.shape) * shaped(gamma, x, 1, 1) + shaped(beta, x, 1, 0)
    large = np.abs(values) + np.abs(shaped(beta, x, 1, 0)) + np.abs(shaped(gamma, x, 1, 1))
    return (values if slope is None else values * sigma(slope * values), large), (mean[..., 0], np.abs(x).max()), rstd[..., 0]


def group_norm_silu(a: Arguments) -> Golden:
    slope = 1.0 if a.get("activateSilu", True) else None
    out, mean, rstd = grouped(a["self"], a["group"], a["gamma"], a["beta"], a["eps"], slope)
    return {"out": out, "meanOut": mean, "rstdOut": rstd}


def group_norm_swish(a: Arguments) -> Golden:
    slope = a["swishScale"] if a["activateSwish"] else None
    out, mean, rstd = grouped(a["x"], a["numGroups"], a["gamma"], a["beta"], a["eps"], slope)
    return {"yOut": out, "meanOut": mean, "rstdOut": rstd}


def group_norm_swish_grad(a: Arguments) -> Golden:
    x, group, slope = a["x"], a["numGroups"], a["swishScale"]
    shape = (x.shape[0], group, x.shape[1] // group, -1)
    rows = x.reshape(shape)
    mean, rstd = (a[name].reshape(x.shape[0], group, 1, 1) for name in ("mean", "rstd"))
    gamma, beta = (a[name].reshape(1, group, -1, 1) for name in ("gamma", "beta"))
    unit = (rows - mean) * rstd
    z = unit * gamma + beta
    dz = a["dy"].reshape(shape) * (sigma(slope * z) + slope * z * sigma(slope * z) * (1 - sigma(slope * z)))
    gradient, large = normal_gradient(dz, rows, mean, rstd, gamma, (2, 3))
    found: Golden = {"dxOut": (gradient.reshape(x.shape), 8 * large.reshape(x.shape) + 1)}
    if a["dgammaIsRequire"]:
        found["dgammaOut"] = ((dz * unit).sum(axis=(0, 3)).ravel(), 8 * np.abs(dz * unit).max())
    if a["dbetaIsRequire"]:
        found["dbetaOut"] = (dz.sum(axis=(0, 3)).ravel(), 8 * np.abs(dz).max())
    return found


def instance_norm(a: Arguments) -> Golden:
    x = a["x"] if a["dataFormat"] == "NCHW" else np.moveaxis(a["x"], 3, 1)
    mean, var, rstd = moments(x, (2, 3), a["eps"])
    terms = (x - mean) * rstd * shaped(a["gamma"], x, 1, 1)
    beta = shaped(a["beta"], x, 1, 0)
    y, large = terms + beta, np.abs(terms) + np.abs(beta) + 0.1
    if a["dataFormat"] == "NHWC":
        y, large = np.moveaxis(y, 1, 3), np.moveaxis(large, 1, 3)
    return {"y": (y, large), "mean": (mean, np.abs(x).max()), "variance": var}


def modulate(a: Arguments) -> Golden:
    x = a["self"]
    scale, shift = (0 if a[name] is None else a[name].reshape(x.shape[0], 1, -1) for name in ("scaleOptional", "shiftOptional"))
    return {"out": (x * (1 + scale) + shift, np.abs(x) * (1 + np.abs(scale)) + np.abs(shift))}


def modulate_backward(a: Arguments) -> Golden:
    dy, x = a["grad_output"], a["input"]
    found: Golden = {"grad_input": dy if a["scale"] is None else dy * a["scale"][:, np.newaxis]}
    if a["scale"] is not None:
        found["grad_scale"] = ((dy * x).sum(axis=1), np.abs(dy * x).max())
    if a["shift"] is not None:
        found["grad_shift"] = (dy.sum(axis=1), np.abs(dy).max())
    return found


def kl_div(a: Arguments) -> Golden:
    x, target = np.broadcast_arrays(a["self"], a["target"])
    with np.errstate(all="ignore"):
        values = np.exp(target) * (target - x) if a["logTarget"] else np.where(target > 0, target * (np.log(target) - x), 0)
    terms = np.exp(target) * 4 if a["logTarget"] else np.abs(target) * 4
    if a["reduction"] == 0:
        return {"out": (values, np.abs(values) + terms)}
    count = {1: x.size, 2: 1, 3: x.shape[0]}[a["reduction"]]
    return {"out": (values.sum() / count, np.abs(values).sum() / count)}


def masked_softmax(a: Arguments) -> Golden:
    x, mask, bias = a["x"], a["attenMaskOptional"], a["relativePosBias"]
    heads, rows, columns = x.shape[-3:]
    windows = 1 if mask is None else mask.size // (rows * columns)
    scores = a["scaleValue"] * x.reshape(-1, windows, heads, rows, columns) + bias.reshape(1, 1, heads, rows, columns)
    if mask is not None:
        scores = scores + mask.reshape(1, windows, 1, rows, columns)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return {"out": (powers / powers.sum(axis=-1, keepdims=True)).reshape(x.shape)}


def fast_batch_norm_backward(a: Arguments) -> Golden:
    from tests.operators.test_normalisations import batch_norm_backward

    return batch_norm_backward(a)


REFERENCES: dict[str, Reference] = {
    "aclnnGemmaRmsNorm": gemma_rms_norm,
    "aclnnAddRmsNormCast": add_rms_norm_cast,
    "aclnnInplaceAddRmsNorm": inplace_add_rms_norm,
    "aclnnAddLayerNorm": add_layer_norm,
    "aclnnAddLayerNormGrad": add_layer_norm_grad,
    "aclnnDeepNorm": deep_norm,
    "aclnnDeepNormGrad": deep_norm_grad,
    "aclnnAdaLayerNorm": ada_layer_norm,
    "aclnnAdaLayerNormV2": ada_layer_norm,
    "aclnnAdaLayerNormBackward": ada_layer_norm_backward,
    "aclnnGroupNormSilu": group_norm_silu,
    "aclnnGroupNormSiluV2": group_norm_silu,
    "aclnnGroupNormSwish": group_norm_swish,
    "aclnnGroupNormSwishGrad": group_norm_swish_grad,
    "aclnnInstanceNorm": instance_norm,
    "aclnnFastBatchNormBackward": fast_batch_norm_backward,
    "aclnnModulate": modulate,
    "aclnnModulateBackward": modulate_backward,
    "aclnnKlDiv": kl_div,
    "aclnnMaskedSoftmaxWithRelPosBias": masked_softmax,
}


@pytest.mark.parametrize("operator", REFERENCES)
def test_examples(operator: str, device: int, chip: Callable[[str], None]) -> None:
    check_examples(operator, REFERENCES[operator], chip)


@pytest.mark.parametrize("mode", range(4))
@given(data=st.data())
def test_kl_div(mode: int, device: int, data: st.DataObject) -> None:
    """What is not positive counts for nothing."""
    log_target = data.draw(st.booleans())
    shape = (data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4)))
    target = numbers((shape[1],) if data.draw(st.booleans()) else shape, FLOAT, data.draw(st.integers(0, 99)))
    target.reshape(-1)[0] = 0
    arguments = {
        "self": numbers(shape, FLOAT, data.draw(st.integers(0, 99)), 3),
        "target": target,
        "reduction": mode,
        "logTarget": log_target,
        "out": np.zeros(shape if mode == 0 else (), np.float32),
    }
    value, largest = kl_div(wide(arguments))["out"]
    found = Case("aclnnKlDiv", arguments).run(data.draw(layouts))
    assert_accurate(found, value, largest=np.broadcast_to(largest, np.shape(value)))


def meta(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


HALF = {"dtype": FLOAT16}
ERRORS: dict[str, list[tuple[Arguments, int, str]]] = {
    "aclnnGemmaRmsNorm": [
        ({"yOut": meta(2, 3, 16, **HALF)}, INVALID, "yOut has dtype"),
        ({"gamma": meta(16, **HALF)}, INVALID, "gamma has dtype"),
        ({"gamma": meta(3)}, TILING, "gamma has shape"),
        ({"yOut": meta(6, 16)}, TILING, "yOut has shape"),
        ({"rstdOut": meta(2)}, TILING, "rstdOut has shape"),
    ],
    "aclnnAddRmsNormCast": [
        *[({name: meta(2, 3, 16, dtype=BF16)}, INVALID, f"{name} has dtype") for name in ("x2", "y2Out", "xOut")],
        ({"gamma": meta(3, **HALF)}, TILING, "gamma has shape"),
        ({"epsilon": -1.0}, TILING, "epsilon is -1.0"),
        ({"y1Out": meta(6, 16)}, TILING, "y1Out has shape"),
    ],
    "aclnnInplaceAddRmsNorm": [
        ({"x2Ref": meta(2, 3, 16, **HALF)}, INVALID, "x2Ref has dtype"),
        ({"x2Ref": meta(6, 16)}, INVALID, "x2Ref has shape"),
        ({"gamma": meta(3)}, INVALID, "gamma has shape"),
    ],
    "aclnnAddLayerNorm": [
        ({"beta": meta(16, **HALF)}, INVALID, "beta has dtype"),
        ({"gamma": meta(16, **HALF), "beta": meta(16, **HALF)}, INVALID, "which cannot be combined"),
        ({"yOut": meta(2, 3, 16, **HALF)}, INVALID, "yOut has dtype"),
        ({"x2": meta(6, 16)}, TILING, "x2 has shape"),
        ({"gamma": meta(3)}, TILING, "gamma has shape"),
        ({"beta": meta(8)}, TILING, "beta has shape"),
        ({"meanOut": meta(2, 3)}, TILING, "meanOut has shape"),
        ({"rstdOut": meta(2, 1, 1)}, TILING, "rstdOut has shape"),
        ({"xOut": meta(6, 16)}, TILING, "xOut has shape"),
        ({"biasOptional": meta(3, 16)}, TILING, "biasOptional has shape"),
    ],
    "aclnnAddLayerNormGrad": [
        *[({name: meta(2, 3, 8, **HALF)}, INVALID, f"{name} has dtype") for name in ("x1", "x2", "dsumOptional", "dxOut")],
        ({"rstd": meta(2, 3)}, INVALID, "rstd has shape"),
        ({"dgammaOut": meta(3)}, INVALID, "dgammaOut has shape"),
    ],
    "aclnnDeepNorm": [
        *[({name: meta(2, 3, 8, **HALF)}, INVALID, f"{name} has dtype") for name in ("gx", "yOut")],
        ({"beta": meta(3)}, INVALID, "beta has shape"),
        ({"meanOut": meta(2, 3)}, INVALID, "meanOut has shape"),
    ],
    "aclnnDeepNormGrad": [
        ({"gx": meta(2, 3, 8, **HALF)}, INVALID, "gx has dtype"),
        ({"dbetaOut": meta(3)}, INVALID, "dbetaOut has shape"),
    ],
    "aclnnAdaLayerNorm": [
        *[({name: meta(2, 8, **HALF)}, INVALID, f"{name} has dtype") for name in ("scale", "shift")],
        ({"weightOptional": meta(8, **HALF)}, INVALID, "weightOptional has dtype"),
        ({"scale": meta(3, 8)}, INVALID, "scale has shape"),
        ({"biasOptional": meta(3)}, INVALID, "biasOptional has shape"),
        ({"out": meta(6, 8)}, INVALID, "out has shape"),
    ],
    "aclnnAdaLayerNormV2": [
        ({"meanOutOptional": meta(2, 3)}, INVALID, "meanOutOptional has shape"),
        ({"meanOutOptional": meta(2, 3, 1, **HALF)}, INVALID, "meanOutOptional has dtype"),
        ({"weightOptional": meta(8, **HALF)}, INVALID, "weightOptional has dtype"),
    ],
    "aclnnAdaLayerNormBackward": [
        *[({name: meta(2, 3, 1, **HALF)}, INVALID, f"{name} has dtype") for name in ("mean", "rstd")],
        ({"biasOptional": meta(8, **HALF)}, INVALID, "biasOptional has dtype"),
        ({"gradWeightOut": meta(8, **HALF)}, INVALID, "gradWeightOut has dtype"),
        ({"normalizedShape": [3, 8]}, INVALID, "normalizedShape has 2 elements"),
        ({"normalizedShape": [7]}, INVALID, "input has shape"),
        ({"gradOut": meta(2, 4, 8)}, INVALID, "gradOut has shape"),
        ({"mean": meta(5)}, INVALID, "mean has 5 elements"),
        ({"shift": meta(3, 8)}, INVALID, "shift has shape"),
        ({"gradScaleOut": meta(2, 1, 8)}, INVALID, "gradScaleOut has shape"),
        ({"gradBiasOut": meta(3)}, INVALID, "gradBiasOut has shape"),
    ],
    "aclnnGroupNormSilu": [
        ({"group": 4}, INVALID, "group is 4"),
        ({"group": 0}, INVALID, "group is 0"),
        ({"eps": 0.0}, INVALID, "eps is 0.0"),
        ({"gamma": meta(5)}, INVALID, "gamma has 5 elements"),
        ({"gamma": meta(6, **HALF)}, INVALID, "gamma has dtype"),
        ({"meanOut": meta(2, 3)}, INVALID, "meanOut has shape"),
        ({"out": meta(2, 24)}, INVALID, "out has shape"),
    ],
    "aclnnGroupNormSiluV2": [({"rstdOut": meta(2, 3)}, INVALID, "rstdOut has shape")],
    "aclnnGroupNormSwish": [({"numGroups": 4}, INVALID, "group is 4"), ({"beta": meta(5)}, INVALID, "beta has 5 elements")],
    "aclnnGroupNormSwishGrad": [
        *[({name: meta(2, 2, **HALF)}, INVALID, f"{name} has dtype") for name in ("mean", "rstd")],
        ({"dxOut": meta(2, 6, 4, **HALF)}, INVALID, "dxOut has dtype"),
        ({"beta": meta(5)}, INVALID, "beta has 5 elements"),
    ],
    "aclnnInstanceNorm": [
        ({"gamma": meta(8)}, INVALID, "gamma has shape"),
        ({"dataFormat": "NCDHW"}, INVALID, "dataFormat is 'NCDHW'"),
        ({"mean": meta(2, 16, 4, 1)}, INVALID, "mean has shape"),
        (
            {name: meta(2, 4, 4, 5) for name in ("x", "y")}
            | {name: meta(4) for name in ("gamma", "beta")}
            | {name: meta(2, 4, 1, 1) for name in ("mean", "variance")},
            INNER,
            "x has 4 channels",
        ),
    ],
    "aclnnFastBatchNormBackward": [
        ({"gradBias": None}, NULLPTR, "gradBias must not"),
        ({"saveMean": meta(4)}, INVALID, "saveMean has shape"),
    ],
    "aclnnModulate": [
        ({"scaleOptional": meta(2, 8, **HALF)}, INVALID, "scaleOptional has dtype"),
        ({"shiftOptional": meta(2, 7)}, INVALID, "shiftOptional has shape"),
        ({"self": meta(0, 3, 8), "out": meta(0, 3, 8)}, INVALID, "self is empty"),
    ],
    "aclnnModulateBackward": [
        ({"input": meta(2, 4, 8)}, INVALID, "grad_output has shape"),
        ({"scale": meta(2, 7)}, INVALID, "scale has shape"),
        ({"shift": meta(2, 8, **HALF)}, INVALID, "shift has dtype"),
    ],
    "aclnnKlDiv": [
        ({"target": meta(3, 5)}, INVALID, "target has shape"),
        ({"out": meta(3, 4)}, INVALID, "out has shape"),
        ({"self": meta(*[1] * 9)}, INVALID, "self has 9 dimensions"),
    ],
    "aclnnMaskedSoftmaxWithRelPosBias": [
        ({"relativePosBias": meta(2, 4, 16, **HALF)}, INVALID, "relativePosBias has dtype"),
        ({"scaleValue": float("inf")}, TILING, "scaleValue is inf"),
        ({"innerPrecisionMode": 1}, TILING, "innerPrecisionMode is 1"),
        ({"relativePosBias": meta(3, 4, 16)}, TILING, "relativePosBias has shape"),
        ({"attenMaskOptional": meta(2, 4, 16)}, TILING, "attenMaskOptional has 2 windows"),
        ({"attenMaskOptional": meta(3, 4, 8)}, TILING, "attenMaskOptional has shape"),
        ({"out": meta(6, 2, 4, 16)}, TILING, "out has shape"),
    ],
}


@pytest.mark.parametrize(
    ("operator", "changes", "status", "text"),
    [pytest.param(operator, *line, id=f"{operator}-{line[2]}") for operator, lines in ERRORS.items() for line in lines],
)
def test_errors(operator: str, changes: Arguments, status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


NEWER = {"950", "A3", "A2"}
PRODUCTS = {
    **dict.fromkeys(("aclnnGemmaRmsNorm", "aclnnAddRmsNormCast", "aclnnAdaLayerNormV2", "aclnnGroupNormSwish"), NEWER),
    **dict.fromkeys(("aclnnInplaceAddRmsNorm", "aclnnAddLayerNorm", "aclnnDeepNorm", "aclnnGroupNormSilu"), NEWER | {"310P"}),
    "aclnnAdaLayerNorm": {"A3", "A2"},
    "aclnnAdaLayerNormBackward": {"A3", "A2"},
    "aclnnFastBatchNormBackward": {"A2"},
    "aclnnModulate": NEWER,
    "aclnnKlDiv": NEWER | {"310P", "910"},
    "aclnnMaskedSoftmaxWithRelPosBias": NEWER | {"310P"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
