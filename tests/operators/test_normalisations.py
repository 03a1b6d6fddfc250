"""Layer, batch, group and RMS normalisation, their parts and their gradients, against formulas in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import floats, layouts, shapes
from tests.operators.goldens import Arguments, Golden, call, check_examples, compare, moments, normal_gradient, shaped, wide

# References: each computes with float64 arrays, row by row as the formula says.


def layer_norm(a: Arguments) -> Golden:
    x, norm = a["input"], a["normalizedShape"]
    axes = tuple(range(x.ndim - len(norm), x.ndim))
    mean, _, rstd = moments(x, axes, a["eps"])
    weight = np.ones(norm) if a["weightOptional"] is None else a["weightOptional"]
    bias = np.zeros(norm) if a["biasOptional"] is None else a["biasOptional"]
    terms = (x - mean) * rstd * weight
    scale = np.abs(terms) + np.abs(bias) + np.abs(x - mean).max() * rstd * 1e-3
    kept = (*x.shape[: x.ndim - len(norm)], *[1] * len(norm))
    return {
        "out": (terms + bias, scale),
        "meanOutOptional": (mean.reshape(kept), np.abs(x).max()),
        "rstdOutOptional": rstd.reshape(kept),
    }


def layer_norm_backward(a: Arguments) -> Golden:
    dy, x, norm = a["gradOut"], a["input"], a["normalizedShape"]
    kept = (*x.shape[: x.ndim - len(norm)], *[1] * len(norm))
    mean, rstd = a["mean"].reshape(kept), a["rstd"].reshape(kept)
    weight = np.ones(norm) if a["weightOptional"] is None else a["weightOptional"]
    front = tuple(range(x.ndim - len(norm)))
    unit = (x - mean) * rstd
    return {
        "gradInputOut": normal_gradient(dy, x, mean, rstd, weight, tuple(range(len(front), x.ndim))),
        "gradWeightOut": ((dy * unit).sum(axis=front), np.abs(dy * unit).max()),
        "gradBiasOut": (dy.sum(axis=front), np.abs(dy).max()),
    }


def batch_norm(a: Arguments) -> Golden:
    x = a["input"]
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    weight, bias = shaped(a["weight"], x, 1, 1), shaped(a["bias"], x, 1, 0)
    if not a["training"]:
        mean, var = shaped(a["runningMean"], x, 1, 0), shaped(a["runningVar"], x, 1, 1)
        terms = (x - mean) / np.sqrt(var + a["eps"]) * weight
        return {"output": (terms + bias, np.abs(terms) + np.abs(bias)), "runningMean": a["runningMean"], "runningVar": a["runningVar"]}
    mean, var, rstd = moments(x, axes, a["eps"])
    terms = (x - mean) * rstd * weight
    count = x.size // x.shape[1]
    of_all = var * count / max(count - 1, 1)
    momentum = a["momentum"]
    found: Golden = {
        "output": (terms + bias, np.abs(terms) + np.abs(bias) + 1e-2),
        "saveMean": (mean.ravel(), np.abs(x).max()),
        "saveInvstd": var.ravel(),
    }
    if a["runningMean"] is not None:
        found["runningMean"] = (a["runningMean"] * (1 - momentum) + mean.ravel() * momentum, np.abs(x).max())
        found["runningVar"] = a["runningVar"] * (1 - momentum) + of_all.ravel() * momentum
    return found


def batch_norm_backward(a: Arguments) -> Golden:
    dy, x = a["gradOut"], a["input"]
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    which = ("saveMean", "saveInvstd") if a["training"] else ("runningMean", "runningVar")
    mean, var = (shaped(a[name], x, 1, 0) for name in which)
    rstd = 1 / np.sqrt(var + a["eps"])
    weight = shaped(a["weight"], x, 1, 1)
    unit = (x - mean) * rstd
    gradient = normal_gradient(dy, x, mean, rstd, weight, axes) if a["training"] else dy * rstd * weight
    return {
        "gradInput": gradient,
        "gradWeight": ((dy * unit).sum(axis=axes), np.abs(dy * unit).max()),
        "gradBias": (dy.sum(axis=axes), np.abs(dy).max()),
    }


def batch_norm_stats(a: Arguments) -> Golden:
    x = a["input"]
    mean, _, rstd = moments(x, tuple(axis for axis in range(x.ndim) if axis != 1), a["eps"])
    return {"mean": (mean.ravel(), np.abs(x).max()), "invstd": rstd.ravel()}


def batch_norm_elemt(a: Arguments) -> Golden:
    x = a["input"]
    weight, bias = shaped(a["weight"], x, 1, 1), shaped(a["bias"], x, 1, 0)
    terms = (x - shaped(a["mean"], x, 1, 0)) * shaped(a["invstd"], x, 1, 0) * weight
    return {"output": (terms + bias, np.abs(terms) + np.abs(bias))}


def batch_norm_elemt_backward(a: Arguments) -> Golden:
    dy, x = a["gradOut"], a["input"]
    mean, invstd, weight, dys, products = (shaped(a[name], x, 1, 1) for name in ("mean", "invstd", "weight", "sumDy", "sumDyXmu"))
    count = a["counter"].sum()
    terms = (dy, dys / count, (x - mean) * invstd**2 * products / count)
    scale = invstd * weight
    return {"gradInput": ((terms[0] - terms[1] - terms[2]) * scale, sum(map(np.abs, terms)) * np.abs(scale))}


def batch_norm_reduce(a: Arguments) -> Golden:
    x = a["x"]
    return {"sum": (x.sum(axis=(0, 2, 3)), np.abs(x).max()), "squareSum": (x**2).sum(axis=(0, 2, 3))}


def batch_norm_reduce_backward(a: Arguments) -> Golden:
    dy, x = a["gradOut"], a["input"]
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    product = dy * (x - shaped(a["mean"], x, 1, 0))
    large = np.abs(product).max()
    return {
        "sumDy": (dy.sum(axis=axes), np.abs(dy).max()),
        "sumDyXmu": (product.sum(axis=axes), large),
        "gradWeight": (product.sum(axis=axes) * a["invstd"], large * a["invstd"]),
        "gradBias": (dy.sum(axis=axes), np.abs(dy).max()),
    }


def running(a: Arguments, names: tuple[str, str], mean: Array, var: Array, count: float) -> Golden:
    if a[names[0]] is None:
        return {}
    momentum = a["momentum"]
    return {
        names[0]: (a[names[0]] * (1 - momentum) + mean * momentum, np.abs(mean) + np.abs(a[names[0]])),
        names[1]: a[names[1]] * (1 - momentum) + var * count / max(count - 1, 1) * momentum,
    }


def gather_with_counts(a: Arguments) -> Golden:
    counts = a["counts"][:, np.newaxis]
    count = counts.sum()
    mean = (a["mean"] * counts).sum(axis=0) / count
    squares = (1 / a["invstd"] ** 2 - a["eps"] + a["mean"] ** 2) * counts
    var = squares.sum(axis=0) / count - mean**2
    statistics = {"meanAll": (mean, np.abs(a["mean"]).max()), "invstdAll": 1 / np.sqrt(var + a["eps"])}
    return {**statistics, **running(a, ("runningMean", "runningVar"), mean, var, count)}


def gather_sums(a: Arguments) -> Golden:
    count = a["sampleCount"].sum()
    mean = a["totalSum"].sum(axis=0) / count
    var = a["totalSquareSum"].sum(axis=0) / count - mean**2
    statistics = {"batchMean": (mean, np.abs(a["totalSum"]).max() / count), "batchInvstd": 1 / np.sqrt(var + a["eps"])}
    return {**statistics, **running(a, ("mean", "variance"), mean, var, count)}


def group_norm(a: Arguments) -> Golden:
    x, group = a["self"], a["group"]
    rows = x.reshape(x.shape[0], group, -1)
    mean, _, rstd = moments(rows, (2,), a["eps"])
    unit = ((rows - mean) * rstd).reshape(x.shape)
    weight, bias = shaped(a["gamma"], x, 1, 1), shaped(a["beta"], x, 1, 0)
    return {
        "out": (unit * weight + bias, np.abs(unit * weight) + np.abs(bias) + 1e-2),
        "meanOut": (mean[..., 0], np.abs(x).max()),
        "rstdOut": rstd[..., 0],
    }


def group_norm_backward(a: Arguments) -> Golden:
    dy, x, group = a["gradOut"], a["input"], a["group"]
    n, c, rest = a["N"], a["C"], a["HxW"]
    shape = (n, group, c // group, rest)
    mean, rstd = (a[name].reshape(n, group, 1, 1) for name in ("mean", "rstd"))
    weight = np.ones((1, group, c // group, 1)) if a["gamma"] is None else a["gamma"].reshape(1, group, -1, 1)
    rows, grads = x.reshape(shape), dy.reshape(shape)
    gradient, large = normal_gradient(grads, rows, mean, rstd, weight, (2, 3))
    product = grads * (rows - mean) * rstd
    return {
        "gradInput": (gradient.reshape(x.shape), large.reshape(x.shape)),
        "gradGammaOut": (product.sum(axis=(0, 3)).ravel(), np.abs(product).max()),
        "gradBetaOut": (grads.sum(axis=(0, 3)).ravel(), np.abs(dy).max()),
    }


def add_rms_norm(a: Arguments) -> Golden:
    x = a["x1"] + a["x2"]
    gamma = a["gamma"] if a["rstdOut"] is not None else a["gamma"].reshape(-1)
    rows = x.reshape(-1, gamma.size)
    rms = np.sqrt((rows**2).mean(axis=1, keepdims=True) + a["epsilon"])
    kept = (*x.shape[: x.ndim - gamma.ndim], *[1] * gamma.ndim)
    size = (np.abs(a["x1"]) + np.abs(a["x2"])).reshape(rows.shape)
    return {
        "yOut": ((rows / rms * gamma.ravel()).reshape(x.shape), (size / rms * gamma.ravel()).reshape(x.shape)),
        "rstdOut": (1 / rms).reshape(kept),
        "xOut": (x, size.reshape(x.shape)),
    }


def rms_norm_grad(a: Arguments) -> Golden:
    dy, x, gamma = a["dy"], a["x"], a["gamma"]
    rstd = a["rstd"].reshape(-1, 1)
    rows, grads = x.reshape(-1, gamma.size), dy.reshape(-1, gamma.size)
    weighed = grads * gamma.ravel()
    along = rows * rstd * (weighed * rows * rstd).mean(axis=1, keepdims=True)
    large = np.abs(rows) * rstd * np.abs(weighed * rows * rstd).max(axis=1, keepdims=True) + np.abs(weighed)
    return {
        "dxOut": (((weighed - along) * rstd).reshape(x.shape), (large * rstd).reshape(x.shape)),
        "dgammaOut": ((rows * rstd * grads).sum(axis=0).reshape(gamma.shape), np.abs(rows * rstd * grads).max()),
    }


REFERENCES: dict[str, Callable[[Arguments], Golden]] = {
    "aclnnLayerNorm": layer_norm,
    "aclnnLayerNormWithImplMode": layer_norm,
    "aclnnFastLayerNorm": layer_norm,
    "aclnnLayerNormBackward": layer_norm_backward,
    "aclnnBatchNorm": batch_norm,
    "aclnnBatchNormBackward": batch_norm_backward,
    "aclnnBatchNormStats": batch_norm_stats,
    "aclnnBatchNormElemt": batch_norm_elemt,
    "aclnnBatchNormElemtBackward": batch_norm_elemt_backward,
    "aclnnBatchNormReduce": batch_norm_reduce,
    "aclnnBatchNormReduceBackward": batch_norm_reduce_backward,
    "aclnnBatchNormGatherStatsWithCounts": gather_with_counts,
    "aclnnSyncBatchNormGatherStats": gather_sums,
    "aclnnGroupNorm": group_norm,
    "aclnnGroupNormBackward": group_norm_backward,
    "aclnnAddRmsNorm": add_rms_norm,
    "aclnnRmsNormGrad": rms_norm_grad,
}


@pytest.mark.parametrize("operator", REFERENCES)
def test_examples(operator: str, device: int, chip: Callable[[str], None]) -> None:
    check_examples(operator, REFERENCES[operator], chip)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(data=st.data())
def test_layer_norm(dtype: Any, device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_dims=1, least=1))
    normalized = shape[data.draw(st.integers(0, len(shape) - 1)) :]
    kept = (*shape[: len(shape) - len(normalized)], *[1] * len(normalized))
    factors = [
        data.draw(floats(normalized, data.draw(st.sampled_from((dtype, FLOAT))))) if data.draw(st.booleans()) else None for _ in "wb"
    ]
    arguments = {
        "input": data.draw(floats(shape, dtype, scale=data.draw(st.sampled_from((1e-2, 1.0, 30.0))))),
        "normalizedShape": list(normalized),
        "weightOptional": factors[0],
        "biasOptional": factors[1],
        "eps": data.draw(st.sampled_from((1e-5, 0.5))),
        "out": np.zeros(shape, dtype),
        "meanOutOptional": np.zeros(kept, np.float32),
        "rstdOutOptional": np.zeros(kept, np.float32),
    }
    compare(Case("aclnnLayerNorm", arguments), layer_norm(wide(arguments)), data.draw(layouts))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(data=st.data())
def test_batch_norm(dtype: Any, training: bool, device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_dims=2, least=1))
    channels = (shape[1],)
    kind = data.draw(st.sampled_from((dtype, FLOAT)))
    arguments = {
        "input": data.draw(floats(shape, dtype)),
        "weight": data.draw(floats(channels, kind)),
        "bias": data.draw(floats(channels, kind)),
        "runningMean": numbers(channels, kind, 1),
        "runningVar": np.abs(numbers(channels, kind, 2)),
        "training": training,
        "momentum": data.draw(st.sampled_from((0.1, 1.0))),
        "eps": 0.01,
        "output": np.zeros(shape, dtype),
        "saveMean": np.zeros(channels, kind),
        "saveInvstd": np.zeros(channels, kind),
    }
    compare(Case("aclnnBatchNorm", arguments), batch_norm(wide(arguments)), data.draw(layouts))


@pytest.mark.parametrize("shape", [(3, 5, 30, 37), (7, 20, 11, 13), (2, 3, 700), (900, 40)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", range(4))
def test_batch_norm_of_long_channels(shape: tuple[int, ...], dtype: Any, layout: int, device: int) -> None:
    channels = shape[1:2]
    arguments = {
        "input": numbers(shape, dtype, 1, 3),
        "weight": numbers(channels, FLOAT, 2),
        "bias": numbers(channels, FLOAT, 3),
        "runningMean": numbers(channels, FLOAT, 4),
        "runningVar": np.abs(numbers(channels, FLOAT, 5)),
        "training": True,
        "momentum": 0.1,
        "eps": 1e-5,
        "output": np.zeros(shape, dtype),
        **{name: np.zeros(channels, FLOAT) for name in ("saveMean", "saveInvstd")},
    }
    compare(Case("aclnnBatchNorm", arguments), batch_norm(wide(arguments)), layout)


FAR = {
    "aclnnLayerNorm": ("input", "out"),
    "aclnnGroupNorm": ("self", "out"),
    "aclnnBatchNorm": ("input", "output"),
}


@pytest.mark.parametrize("operator", FAR)
def test_rows_far_from_zero(operator: str, device: int) -> None:
    """Elements of 10000 ± 1, of which FLOAT has three digits behind the point: nothing more is lost."""
    case = call(operator)
    source, out = FAR[operator]
    changed = case.but(**{source: case.arguments[source] + np.float32(10000)})
    golden = REFERENCES[operator](wide(changed.arguments))
    names = [name for name, kind in case.declared.parameters if kind.io != "in" and case.arguments[name] is not None]
    found = dict(zip(names, changed.results(), strict=True))[out]
    assert_accurate(found, golden[out][0], largest=np.full(found.shape, 3.0))


@pytest.mark.parametrize("operator", ["aclnnLayerNorm", "aclnnAddRmsNorm"])
def test_long_rows(operator: str, device: int) -> None:
    length = 20000
    x = numbers((2, length), FLOAT16, 1, 7)
    weight = numbers((length,), FLOAT16, 2)
    row = np.zeros((2, 1), np.float32)
    arguments = {
        "aclnnLayerNorm": {
            "input": x,
            "normalizedShape": [length],
            "weightOptional": weight,
            "biasOptional": weight,
            "eps": 1e-5,
            "out": np.zeros_like(x),
            "meanOutOptional": row,
            "rstdOutOptional": row,
        },
        "aclnnAddRmsNorm": {"x1": x, "x2": x[::-1], "gamma": weight, "epsilon": 1e-6, "yOut": np.zeros_like(x), "rstdOut": row, "xOut": x},
    }[operator]
    compare(Case(operator, arguments), REFERENCES[operator](wide(arguments)))


def test_shapes_that_strides_do_not_allow(device: int) -> None:
    """A transposed batch has no view in groups, and statistics none in rows: copies are made on the way."""
    statistics = {"mean": numbers((6, 2), BF16, 3), "rstd": numbers((2, 3, 2), BF16, 4)}
    batches = {"gradOut": numbers((2, 3, 2, 6), BF16, 1), "input": numbers((2, 6, 2, 3), BF16, 2)}
    case = call("aclnnGroupNormBackward", 2).but(**statistics, **batches, outputMask=[True, True, True])
    case = case.but(gradInput=np.zeros((2, 6, 2, 3), BF16), gamma=numbers((3, 2), BF16, 5))
    case = case.but(gradGammaOut=np.zeros((3, 2), BF16), gradBetaOut=np.zeros((3, 2), BF16))
    golden = group_norm_backward(wide(case.arguments))
    for name in ("gradGammaOut", "gradBetaOut"):
        golden[name] = (golden[name][0].reshape(3, 2), golden[name][1])
    for layout in (7, 11, 12):
        compare(case, golden, layout)


def test_channels_last_on_the_newest_chip(device: int, chip: Callable[[str], None]) -> None:
    """NHWC says where the channels are there; elsewhere they are always the second axis."""
    shape = (2, 3, 4, 5)

    def status(channels: int) -> int:
        row, batch = Meta((channels,), FLOAT), Meta(shape, FLOAT, format=acl.ACL_FORMAT_NHWC)
        rows = dict.fromkeys(("weight", "bias", "runningMean", "runningVar", "saveMean", "saveInvstd"), row)
        settings = {"training": True, "momentum": 0.1, "eps": 1e-5}
        return Case("aclnnBatchNorm", {"input": batch, "output": batch, **rows, **settings}).status()

    assert [status(3), status(5)] == [0, acl.ACLNN_ERR_PARAM_INVALID]
    chip("Ascend950PR_9589")
    assert [status(3), status(5)] == [acl.ACLNN_ERR_PARAM_INVALID, 0]


def test_saved_statistics_of_a_product(device: int, chip: Callable[[str], None]) -> None:
    """950 saves inverse standard deviations, and takes them in the gradient; the others variances."""
    forward, backward = call("aclnnBatchNorm"), call("aclnnBatchNormBackward")
    variances = forward.results()[4]
    gradients = backward.results()
    eps = backward.arguments["eps"]
    chip("Ascend950PR_9589")
    np.testing.assert_allclose(forward.results()[4], 1 / np.sqrt(variances + 1e-5), rtol=1e-5)
    inverse = (1 / np.sqrt(backward.arguments["saveInvstd"].astype(np.float64) + eps)).astype(np.float32)
    for found, expected in zip(backward.but(saveInvstd=inverse).results(), gradients, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_special_rows(device: int) -> None:
    """A row with NaN or an infinity is NaN; rows of one value are the bias; the others are as they would be alone."""
    x = np.array([[1, 2, 3], [np.nan, 1, 2], [np.inf, 1, 2], [7, 7, 7], [3e38, -3e38, 0]], np.float32)
    case = call("aclnnLayerNorm")
    case = case.but(
        input=x,
        normalizedShape=[3],
        weightOptional=np.ones(3, np.float32),
        biasOptional=np.full(3, 0.5, np.float32),
        out=np.zeros_like(x),
        meanOutOptional=np.zeros((5, 1), np.float32),
        rstdOutOptional=np.zeros((5, 1), np.float32),
    )
    out, mean, rstd = case.results()
    assert np.isnan(out[1:3]).all()
    assert np.isnan(mean[1, 0])
    assert mean[2, 0] == np.inf
    assert np.isnan(rstd[1:3]).all()
    assert out[3].tolist() == [0.5] * 3
    root = math.sqrt(1.5)
    np.testing.assert_allclose(out[[0, 4]], [[0.5 - root, 0.5, 0.5 + root], [0.5 + root, 0.5 - root, 0.5]], rtol=1e-4)


def test_one_element_of_a_channel(device: int) -> None:
    """The variance of one element is 0, that of the population, too."""
    case = call("aclnnBatchNorm")
    one = {name: np.full((1, 3), 2, np.float32) for name in ("input", "output")}
    mean, var, output, save_mean, save_var = case.but(**one).results()
    assert save_var.tolist() == [0, 0, 0]
    assert output.tolist() == [case.arguments["bias"].tolist()]
    np.testing.assert_allclose(var, case.arguments["runningVar"] * 0.9, rtol=1e-6)
    assert save_mean.tolist() == [2, 2, 2]
    assert mean.shape == (3,)


def test_empty_batches(device: int) -> None:
    empty = np.zeros((0, 3), np.float32)
    assert call("aclnnBatchNorm").but(input=empty, output=empty).plan() == (0, 0)
    assert call("aclnnBatchNormBackward").but(input=empty, gradOut=empty, gradInput=empty).plan() == (0, 0)
    rows = np.zeros((0, 8), np.float32)
    layer = call("aclnnLayerNorm").but(input=rows, out=rows, meanOutOptional=np.zeros((0, 1), np.float32), rstdOutOptional=None)
    assert layer.plan() == (0, 0)
