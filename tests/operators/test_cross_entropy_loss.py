"""aclnnCrossEntropyLoss and aclnnCrossEntropyLossGrad."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import (
    ACL_ERROR_RT_AICORE_EXCEPTION,
    ACLNN_ERR_INNER_NULLPTR,
    ACLNN_ERR_INNER_TILING_ERROR,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_PARAM_NULLPTR,
)
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import float_dtypes, floats, layouts
from tests.operators.refusals import assert_refused

TILING, INVALID = ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID
REDUCTIONS = ("none", "mean", "sum", None)


def loss(shape=(6, 5), dtype=FLOAT, index=np.int64, reduction: str | None = "mean", ignored: int = -100, smoothing: float = 0.0) -> Case:
    rows, classes = shape
    return Case(
        "aclnnCrossEntropyLoss",
        {
            "input": numbers(shape, dtype, 1, 3.0),
            "target": np.random.default_rng(2).integers(0, max(classes, 1), rows).astype(index),
            "weightOptional": np.abs(numbers((classes,), np.float32, 3)),
            "reductionOptional": reduction,
            "ignoreIndex": ignored,
            "labelSmoothing": smoothing,
            "lseSquareScaleForZloss": 0.5,
            "returnZloss": True,
            "lossOut": numbers((rows,) if reduction == "none" else (1,), dtype, 4),
            "logProbOut": numbers(shape, dtype, 5),
            "zlossOut": numbers((1,), dtype, 6),
            "lseForZlossOut": numbers((rows,), dtype, 7),
        },
    )


def grad(shape=(6, 5), dtype=FLOAT, reduction: str | None = "mean", ignored: int = -100, smoothing: float = 0.0) -> Case:
    forward = loss(shape, dtype, reduction=reduction, ignored=ignored).arguments
    shared = {name: forward[name] for name in ("target", "weightOptional", "reductionOptional", "ignoreIndex", "lseSquareScaleForZloss")}
    more = {
        "gradLoss": numbers((shape[0],) if reduction == "none" else (), dtype, 8),
        "logProb": (log_softmax(forward["input"])).astype(dtype),
        "gradZlossOptional": None,
        "lseForZlossOptional": numbers((shape[0],), dtype, 9),
        "labelSmoothing": smoothing,
        "out": numbers(shape, dtype, 10),
    }
    return Case("aclnnCrossEntropyLossGrad", {**shared, **more})


def log_softmax(x: Array) -> Array:
    """Each class against the others: exact where there is but one. Below an infinite logit there are no numbers."""
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        result = -np.log(np.exp(x[:, np.newaxis, :] - x[:, :, np.newaxis]).sum(axis=2))
    result[np.isposinf(x).any(axis=1)] = np.nan
    return result


def golden(call: Case) -> tuple[Array, Array]:
    """The documented formula in float64, row by row: loss, log probabilities."""
    target, weight, smoothing = (call.arguments[name] for name in ("target", "weightOptional", "labelSmoothing"))
    log_prob = log_softmax(call.arguments["input"])
    rows, classes = log_prob.shape
    weight = np.ones(classes) if weight is None else weight.astype(np.float64)
    losses, total = np.zeros(rows), 0.0
    for n, t in enumerate(target):
        if t != call.arguments["ignoreIndex"]:
            losses[n] = -weight[t] * log_prob[n, t]
            if smoothing:
                losses[n] = (1 - smoothing) * losses[n] + smoothing / classes * -(weight * log_prob[n]).sum()
            total += weight[t]
    if call.arguments["reductionOptional"] == "none":
        return losses, log_prob
    summed = np.array([losses.sum()])
    with np.errstate(all="ignore"):
        return summed / (1 if call.arguments["reductionOptional"] == "sum" else total), log_prob


def golden_gradient(call: Case) -> tuple[Array, Array]:
    """The documented formula in float64, row by row: gradient, largest term."""
    weight, reduction = call.arguments["weightOptional"], call.arguments["reductionOptional"]
    p = np.exp(call.arguments["logProb"].astype(np.float64))
    weight = np.ones(p.shape[1]) if weight is None else weight.astype(np.float64)
    counted = [(n, t) for n, t in enumerate(call.arguments["target"]) if t != call.arguments["ignoreIndex"]]
    total = sum(weight[t] for _, t in counted) if reduction in ("mean", None) else 1.0
    result, largest = np.zeros(p.shape), np.zeros(p.shape)
    smoothing = call.arguments["labelSmoothing"]
    for n, t in counted:
        scale = np.float64(call.arguments["gradLoss"].reshape(-1)[n if reduction == "none" else 0]) / total
        label = (np.arange(p.shape[1]) == t) * (1 - smoothing) * weight + smoothing / p.shape[1] * weight
        result[n] = scale * (p[n] * label.sum() - label)
        largest[n] = np.maximum(p[n] * np.abs(label).sum(), np.abs(label)) * abs(scale)
    return result, largest


def test_documented_samples(device: int) -> None:
    x = np.array([[5, 0, 3, 3, 7], [9, 3, 5, 2, 4]], np.float32)
    found, log_prob, zloss, lse = loss((2, 5)).but(input=x, target=np.zeros(2, np.int64), weightOptional=None).results()
    np.testing.assert_allclose(found, [1.0937543], rtol=1e-6)
    np.testing.assert_allclose(log_prob[:, :2], [[-2.159461, -7.159461], [-0.0280476, -6.0280476]], atol=1e-6)
    assert_equal(zloss, numbers((1,), FLOAT, 6))
    assert_equal(lse, numbers((2,), FLOAT, 7))
    ones = grad((2, 3)).but(
        gradLoss=np.array(0.1, np.float32),
        logProb=np.full((2, 3), -0.2, np.float32),
        target=np.zeros(2, np.int64),
        weightOptional=np.ones(3, np.float32),
    )
    np.testing.assert_allclose(ones.run().ravel(), [-0.0091, 0.0409, 0.0409] * 2, atol=5e-5)


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    dtype, index = data.draw(float_dtypes), data.draw(st.sampled_from((np.int32, np.int64)))
    reduction, smoothing = data.draw(st.sampled_from(REDUCTIONS)), data.draw(st.sampled_from((0.0, 0.1, 1.0)))
    call = loss(shape, dtype, index, reduction, data.draw(st.integers(-1, 5)), smoothing)
    call = call.but(input=data.draw(floats(shape, dtype, 3.0, special=reduction == "none" and not smoothing)))
    if data.draw(st.booleans()):
        call = call.but(weightOptional=None)
    with np.errstate(all="ignore"):
        expected, log_prob = golden(call)
    found, found_log_prob, *_ = call.results(data.draw(layouts))
    logits = np.abs(call.arguments["input"].astype(np.float64))
    largest = logits[np.isfinite(logits)].max(initial=0)
    assert_accurate(found, expected, largest=largest)
    assert_accurate(found_log_prob, log_prob, largest=largest)


@given(st.data())
def test_gradient_values(device: int, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    dtype, reduction = data.draw(float_dtypes), data.draw(st.sampled_from(REDUCTIONS))
    smoothing = data.draw(st.sampled_from((0.0, 0.1, 1.0)))
    call = grad(shape, dtype, reduction, data.draw(st.integers(-1, 5)), smoothing)
    single = st.sampled_from(((), (1,)))
    call = call.but(gradLoss=data.draw(floats(shape[:1] if reduction == "none" else data.draw(single), dtype)))
    if data.draw(st.booleans()):
        call = call.but(weightOptional=None, lseForZlossOptional=None, gradZlossOptional=numbers((3,), dtype))
    expected, largest = golden_gradient(call)
    assert_accurate(call.run(data.draw(layouts)), expected, largest=largest)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_gradient_is_that_of_the_loss(reduction: str, smoothing: float, device: int) -> None:
    """Against differences of the loss in float64."""
    call = loss(reduction=reduction, ignored=3, smoothing=smoothing)
    x, step = call.arguments["input"].astype(np.float64), 1e-6
    slopes = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] -= step
        moved[1][place] += step
        low, high = (golden(call.but(input=values))[0][0] for values in moved)
        slopes[place] = (high - low) / (2 * step)
    back = grad(reduction=reduction, ignored=3, smoothing=smoothing).but(logProb=call.results()[1], gradLoss=np.ones((1,), np.float32))
    np.testing.assert_allclose(back.run(), slopes, atol=1e-6)


def test_more_rows_than_one_block(device: int) -> None:
    call, back = loss((70000, 4), smoothing=0.3), grad((70000, 4), reduction="sum")
    expected, log_prob = golden(call)
    found, found_log_prob, *_ = call.results()
    assert_accurate(found, expected)
    assert_accurate(found_log_prob, log_prob)
    expected, largest = golden_gradient(back)
    assert_accurate(back.run(), expected, largest=largest)


def test_large_logits_do_not_overflow(device: int) -> None:
    found, log_prob, *_ = loss((1, 2)).but(input=np.array([[3e38, 3e38]], np.float32)).results()
    assert_accurate(log_prob, np.full((1, 2), -math.log(2)))
    assert_accurate(found, [math.log(2)])


def test_all_rows_ignored(device: int) -> None:
    for reduction, expected in (("none", np.zeros(6)), ("sum", [0]), ("mean", [math.nan])):
        call, *backs = loss(reduction=reduction, ignored=1), *(grad(reduction=reduction, ignored=1, smoothing=one) for one in (0.0, 0.5))
        for each in (call, *backs):
            each.arguments["target"][...] = 1
        assert_equal(call.results()[0], expected)
        for back in backs:
            assert_equal(back.run(), np.zeros((6, 5)))


@pytest.mark.parametrize("make", [loss, grad])
@pytest.mark.parametrize("bad", [5, -1])
def test_foreign_targets_fault_on_the_device(make, bad: int, device: int) -> None:
    call = make()
    call.arguments["target"][4] = bad
    assert call.status() == 0
    with pytest.raises(Refused, match=rf"target\[4\] is {bad}, outside \[0, 4\]") as refusal:
        call.results(3)
    assert refusal.value.status == ACL_ERROR_RT_AICORE_EXCEPTION


def test_no_rows(device: int) -> None:
    assert loss((0, 5), reduction="none").plan() == grad((0, 5)).plan() == (0, 0)
    assert_equal(loss((0, 5)).results()[0], [math.nan])
    assert_equal(loss((0, 5), reduction="sum").results()[0], [0])


ERRORS = [
    (loss(), {"input": Meta((6, 5), np.float64)}, INVALID, "input"),
    (loss(), {"target": Meta((6,), np.uint8)}, INVALID, "target"),
    (loss(), {"weightOptional": Meta((5,), FLOAT16)}, INVALID, "weightOptional"),
    (loss(), {"lossOut": Meta((1,), FLOAT16)}, INVALID, "lossOut"),
    (loss(), {"logProbOut": Meta((6, 5), BF16)}, INVALID, "logProbOut"),
    (loss(), {"zlossOut": Meta((1,), FLOAT16)}, INVALID, "zlossOut"),
    (loss(), {"lseForZlossOut": Meta((6,), np.int32)}, INVALID, "lseForZlossOut"),
    (loss(), {"input": Meta((6, 5, 1), FLOAT)}, TILING, "input"),
    (loss(), {"input": Meta((5,), FLOAT)}, TILING, "input"),
    (loss((6, 0)), {}, TILING, "input"),
    (loss(), {"target": Meta((5,), np.int64)}, TILING, "target"),
    (loss(), {"target": Meta((6, 1), np.int64)}, TILING, "target"),
    (loss(), {"weightOptional": Meta((6,), FLOAT)}, TILING, "weightOptional"),
    (loss(), {"lossOut": Meta((6,), FLOAT)}, TILING, "lossOut"),
    (loss(reduction="none"), {"lossOut": Meta((1,), FLOAT)}, TILING, "lossOut"),
    (loss(), {"logProbOut": Meta((5, 6), FLOAT)}, TILING, "logProbOut"),
    (loss(), {"reductionOptional": "Mean"}, TILING, "reductionOptional"),
    (loss(), {"reductionOptional": ""}, TILING, "reductionOptional"),
    (loss(), {"labelSmoothing": -0.1}, TILING, "labelSmoothing"),
    (loss(), {"labelSmoothing": 1.1}, TILING, "labelSmoothing"),
    (loss(), {"labelSmoothing": math.nan}, TILING, "labelSmoothing"),
    (grad(), {"gradLoss": Meta((), np.float64)}, INVALID, "gradLoss"),
    (grad(), {"logProb": Meta((6, 5), FLOAT16)}, INVALID, "logProb"),
    (grad(), {"target": Meta((6,), np.int32)}, INVALID, "target"),
    (grad(), {"weightOptional": Meta((5,), BF16)}, INVALID, "weightOptional"),
    (grad(), {"gradZlossOptional": Meta((), FLOAT16)}, INVALID, "gradZlossOptional"),
    (grad(), {"lseForZlossOptional": Meta((6,), np.int32)}, INVALID, "lseForZlossOptional"),
    (grad(), {"out": Meta((6, 5), FLOAT16)}, INVALID, "out"),
    (grad(), {"logProb": Meta((30,), FLOAT)}, TILING, "logProb"),
    (grad((6, 0)), {}, TILING, "logProb"),
    (grad(), {"target": Meta((7,), np.int64)}, TILING, "target"),
    (grad(), {"weightOptional": Meta((1,), FLOAT)}, TILING, "weightOptional"),
    (grad(), {"gradLoss": Meta((6,), FLOAT)}, TILING, "gradLoss"),
    (grad(reduction="none"), {"gradLoss": Meta((), FLOAT)}, TILING, "gradLoss"),
    (grad(), {"out": Meta((5, 6), FLOAT)}, TILING, "out"),
    (grad(), {"reductionOptional": "max"}, TILING, "reductionOptional"),
    (grad(), {"labelSmoothing": -0.1}, TILING, "labelSmoothing"),
    (grad(), {"labelSmoothing": 1.1}, TILING, "labelSmoothing"),
    (grad(), {"labelSmoothing": math.nan}, TILING, "labelSmoothing"),
]


@pytest.mark.parametrize(("call", "changes", "status", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_refusals(call: Case, changes: dict, status: int, named: str) -> None:
    assert call.but(**changes).status() == status
    assert f": {named} " in message()


ORDER = [
    (loss(), {"lseForZlossOut": None, "input": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "lseForZlossOut"),
    (loss(), {"zlossOut": Meta((1,), FLOAT16), "input": Meta((1,), FLOAT)}, INVALID, "zlossOut has dtype"),
    (loss(), {"target": Meta((1,), np.int64), "labelSmoothing": 2.0, "reductionOptional": "x"}, TILING, "target has shape"),
    (grad(), {"out": None, "logProb": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "out"),
    (grad(), {"out": Meta((6, 5), FLOAT16), "target": Meta((1,), np.int64)}, INVALID, "out has dtype"),
]


def test_order_of_checks(chip) -> None:
    assert_refused(ORDER, chip, ("Ascend910B1", "Ascend310P3"))


@pytest.mark.parametrize("make", [loss, grad])
def test_products(make, chip) -> None:
    for soc in ("Ascend950PR_9589", "Ascend910_9391", "Ascend910B1"):
        chip(soc)
        assert make().status() == make(dtype=BF16).status() == 0, soc
    for soc in ("Ascend310B1", "Ascend310P3", "Ascend910A"):
        chip(soc)
        assert make().status() == ACLNN_ERR_INNER_NULLPTR, soc


def test_the_auxiliary_outputs_may_have_any_shape() -> None:
    assert loss().but(zlossOut=Meta((), FLOAT), lseForZlossOut=Meta((0,), FLOAT)).status() == 0
