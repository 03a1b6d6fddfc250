"""Activations and functions with rules of their own: weights of channels, random slopes, sums, labels, angles, decimals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal, assert_meets_standard
from tests.operators.case import Array, Case, Meta, numbers

INF, NAN = math.inf, math.nan
WEIGHTS = [((2, 3, 4), (3,)), ((2, 3, 4), (1, 3, 1)), ((2, 3), (1,)), ((5,), ()), ((), (1,)), ((2, 3, 4), (1, 1, 1))]


def per_channel(weight: Array, rank: int) -> Array:
    wide = weight.astype(np.float64).reshape(-1)
    return wide.reshape(-1, *[1] * (rank - 2)) if wide.size > 1 else wide.reshape([1] * rank)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("shape", "weight_shape"), WEIGHTS, ids=str)
def test_prelu(dtype: Any, shape: tuple[int, ...], weight_shape: tuple[int, ...], device: int) -> None:
    x, weight = numbers(shape, dtype, 1), numbers(weight_shape, dtype, 2)
    wide, slopes = x.astype(np.float64), per_channel(weight, len(shape))
    result = Case("aclnnPrelu", {"self": x, "weight": weight, "out": np.zeros(shape, dtype)}).run(3)
    assert_accurate(result, np.maximum(wide, 0) + slopes * np.minimum(wide, 0))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("shape", "weight_shape"), WEIGHTS, ids=str)
def test_prelu_backward(dtype: Any, shape: tuple[int, ...], weight_shape: tuple[int, ...], device: int) -> None:
    grad, x, weight = numbers(shape, dtype, 1), numbers(shape, dtype, 2), numbers(weight_shape, dtype, 3)
    g, wide, slopes = grad.astype(np.float64), x.astype(np.float64), per_channel(weight, len(shape))
    case = Case(
        "aclnnPreluBackward",
        {"gradOutput": grad, "self": x, "weight": weight, "gradInput": np.zeros(shape, dtype), "gradWeight": np.zeros(weight_shape, dtype)},
    )
    inputs, weights = case.results(3)
    assert_accurate(inputs, np.where(wide > 0, g, g * slopes))
    products = np.where(wide > 0, 0, g * wide)
    expected = products.sum() if weight.size == 1 else np.moveaxis(products, 1, 0).reshape(weight.size, -1).sum(axis=1)
    np.testing.assert_allclose(
        weights.astype(np.float64).reshape(-1), np.reshape(expected, -1), rtol=2.0**-8 if dtype != FLOAT else 1e-6, atol=1e-6
    )


def test_prelu_rules(device: int) -> None:
    x = Meta((2, 3, 4), np.float32)
    case = Case("aclnnPrelu", {"self": x, "weight": Meta((3,), np.float32), "out": x})
    assert case.status() == 0
    assert case.but(weight=Meta((3,), np.float16)).status() == 0
    assert case.but(out=Meta((2, 3, 4), np.float16)).status() == 0
    for wrong in ({"weight": Meta((4,), np.float32)}, {"out": Meta((2, 4, 3), np.float32)}, {"weight": Meta((3,), np.int32)}):
        assert case.but(**wrong).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(weight=None).status() == ACLNN_ERR_PARAM_NULLPTR
    back = Case(
        "aclnnPreluBackward",
        {"gradOutput": x, "self": x, "weight": Meta((3,), np.float32), "gradInput": x, "gradWeight": Meta((3,), np.float32)},
    )
    assert back.but(gradOutput=Meta((1, 3, 1), np.float32)).status() == 0
    for wrong in (
        {"gradOutput": Meta((2, 3, 4), np.float16)},
        {"gradOutput": Meta((5, 3, 4), np.float32)},
        {"weight": Meta((4,), np.float32)},
        {"gradWeight": Meta((1, 3), np.float32)},
        {"gradInput": Meta((3, 2, 4), np.float32)},
    ):
        assert back.but(**wrong).status() == ACLNN_ERR_PARAM_INVALID, wrong


def test_prelu_backward_broadcasts_the_gradient(device: int) -> None:
    x = numbers((2, 3), FLOAT, 1)
    case = Case(
        "aclnnPreluBackward",
        {
            "gradOutput": np.array([2.0], FLOAT),
            "self": x,
            "weight": np.array([0.5], FLOAT),
            "gradInput": np.zeros((2, 3), FLOAT),
            "gradWeight": np.zeros(1, FLOAT),
        },
    )
    inputs, weights = case.results()
    assert_equal(inputs, np.where(x > 0, 2.0, 1.0))
    np.testing.assert_allclose(weights, [2 * np.minimum(x, 0).sum(dtype=np.float64)], rtol=1e-6)


def rrelu(dtype: Any = FLOAT, **changes: Any) -> Case:
    given = {"self": numbers((40, 50), dtype, 1), "noise": np.full((40, 50), 9, dtype), "lower": 0.125, "upper": 0.5}
    given |= {"training": True, "seed": 3, "offset": 5, "out": np.zeros((40, 50), dtype)}
    return Case("aclnnRReluWithNoise", {**given, **changes})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rrelu_in_training(dtype: Any, device: int) -> None:
    case = rrelu(dtype)
    x = case.arguments["self"].astype(np.float64)
    noise, out = (one.astype(np.float64) for one in case.results(3))
    assert (noise[x > 0] == 1).all()
    drawn = noise[x <= 0]
    assert ((drawn >= 0.125) & (drawn <= 0.5)).all()
    assert abs(drawn.mean() - 0.3125) < 0.02
    assert len(np.unique(drawn)) > (900 if dtype == FLOAT else 50)
    np.testing.assert_allclose(out, x * noise, rtol=2.0**-7, atol=1e-3)
    again, other = case.results(), case.but(seed=4).results()
    assert_equal(again[0], noise)
    assert not (other[0] == again[0]).all()
    assert not (case.but(offset=6).results()[0] == again[0]).all()


def test_rrelu_at_rest_and_in_place(device: int) -> None:
    case = rrelu(training=False)
    x = case.arguments["self"].astype(np.float64)
    noise, out = case.results()
    assert_equal(noise, np.full((40, 50), 9.0))
    assert_accurate(out, np.where(x > 0, x, 0.3125 * x))
    given = {key: value for key, value in rrelu().arguments.items() if key != "out"}
    changed, drawn = Case("aclnnInplaceRReluWithNoise", given).results(2)
    noise, out = rrelu().results()
    assert_equal(changed, out)
    assert_equal(drawn, noise)


def test_rrelu_rules(chip) -> None:
    assert rrelu(noise=Meta((2000,), np.float32)).status() == 0
    assert rrelu(noise=Meta((2001,), np.float32)).status() == 0
    for wrong in (
        {"noise": Meta((1999,), np.float32)},
        {"noise": Meta((40, 50), np.float16)},
        {"out": Meta((50, 40), np.float32)},
        {"self": Meta((40, 50), np.int32)},
    ):
        assert rrelu(**wrong).status() == ACLNN_ERR_PARAM_INVALID, wrong
    for name in ("self", "noise", "out"):
        assert rrelu(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    chip("Ascend310P3")
    assert rrelu(FLOAT16).status() == ACLNN_ERR_INNER_NULLPTR


def test_add_relu(device: int) -> None:
    x, y = numbers((3, 4, 5), FLOAT, 1), numbers((4, 1), FLOAT16, 2)
    case = Case("aclnnAddRelu", {"self": x, "other": y, "alpha": 1.5, "out": np.zeros((3, 4, 5), FLOAT)})
    assert_accurate(case.run(3), np.maximum(x.astype(np.float64) + 1.5 * y.astype(np.float64), 0), largest=abs(x) + 3)
    whole = np.array([-5, 2, 2**40], np.int64)
    case = Case("aclnnAddRelu", {"self": whole, "other": np.array([1, 1, 1], np.int64), "alpha": 2, "out": np.zeros(3, np.int64)})
    assert case.run().tolist() == [0, 4, 2**40 + 2]
    assert Case("aclnnInplaceAddRelu", {"selfRef": whole, "other": whole, "alpha": 1}).run().tolist() == [0, 4, 2**41]
    assert case.but(alpha=None).status() == ACLNN_ERR_PARAM_NULLPTR
    for wrong in (
        {"alpha": 0.5},
        {"out": Meta((3,), np.bool_)},
        {"other": Meta((4,), np.int64)},
        {"self": Meta((3,), np.float64)},
        {"other": Meta((3,), np.float32)},
    ):
        assert case.but(**wrong).status() == ACLNN_ERR_PARAM_INVALID, wrong


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_of_labels(reduction: int, weighted: bool, device: int) -> None:
    grad, x, target = (numbers((3, 4), FLOAT, seed, 3) for seed in range(3))
    weight, positive = (numbers((4,), FLOAT, 4), numbers((3, 1), FLOAT, 5)) if weighted else (None, None)
    given = {"gradOutput": grad, "self": x, "target": target, "weightOptional": weight, "posWeightOptional": positive}
    case = Case("aclnnBinaryCrossEntropyWithLogitsTargetBackward", {**given, "reduction": reduction, "gradTarget": np.zeros((3, 4), FLOAT)})
    wide = x.astype(np.float64)
    share = 1 / (1 + np.exp(-wide))
    w, p = (weight.astype(np.float64), positive.astype(np.float64)) if weighted else (1, 1)
    expected = grad * w * (np.log(1 - share) - p * np.log(share)) / (12 if reduction == 1 else 1)
    np.testing.assert_allclose(case.run(3), expected, rtol=2e-6, atol=2e-6)
    assert case.but(reduction=3).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(target=Meta((4, 3), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(weightOptional=Meta((5,), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(gradOutput=Meta((5, 3, 4), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(gradTarget=Meta((3, 4), np.float16)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(self=None).status() == ACLNN_ERR_PARAM_NULLPTR


def angle(x: Any, out: Any) -> Case:
    return Case("aclnnAngleV2", {"x": x, "out": out})


def test_angles(device: int, chip) -> None:
    x = np.array([1.0, -2.0, 0.0, -0.0, NAN, INF, -INF], FLOAT)
    np.testing.assert_allclose(angle(x, np.zeros(7, FLOAT)).run(), [0, math.pi, 0, 0, NAN, 0, math.pi], rtol=1e-7)
    z = numbers((20,), np.complex64, 2)
    expected = [math.atan2(one.imag, one.real) for one in z]
    np.testing.assert_allclose(angle(z, np.zeros(20, FLOAT)).run(3), expected, rtol=2e-7)
    np.testing.assert_allclose(angle(z, np.zeros(20, FLOAT16)).run(3), expected, rtol=1e-3)
    assert_accurate(angle(np.array([-3, 0, 5], np.int64), np.zeros(3, FLOAT)).run(), [math.pi, 0, 0])
    assert_accurate(angle(np.array([True, False]), np.zeros(2, FLOAT)).run(), [0, 0])
    one = Meta((2,), BF16)
    assert angle(one, Meta((2,), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert angle(Meta((2,), np.float32), Meta((3,), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert angle(Meta((2,), np.float64), Meta((2,), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert angle(None, Meta((2,), np.float32)).status() == ACLNN_ERR_PARAM_NULLPTR
    chip("Ascend950PR_9589")
    assert angle(one, one).status() == 0
    chip("Ascend910A")
    assert angle(Meta((2,), np.float32), Meta((2,), np.float32)).status() == ACLNN_ERR_INNER_NULLPTR


@pytest.mark.parametrize(
    ("dtype", "decimals", "x", "expected"),
    [
        (np.float64, 2, [1.005, -2.675, 0.125], [1.0, -2.68, 0.12]),
        (np.float32, 1, [0.35, 0.25, -0.05], [0.4, 0.2, 0]),  # 0.35 times 10 is 3.5 in FLOAT
        (np.float32, 0, [0.5, 1.5, 2.5, -0.5], [0, 2, 2, 0]),
        (np.float32, -2, [149.0, 150.0, 250.0, -151.0], [100, 200, 200, -200]),
        (np.float32, 60, [1.25, -3.5], [1.25, -3.5]),
        (np.float32, 3, [INF, -INF, NAN], [INF, -INF, NAN]),
        (np.float16, 1, [0.3252], [0.3]),
        (np.int32, 3, [15, -25], [15, -25]),
        (np.int32, -1, [15, -25, 25, 26, -4], [20, -20, 20, 30, 0]),
        (np.int64, -1, [2**60 + 3], [(2**60 + 3) // 10 * 10 + 10 * ((2**60 + 3) % 10 > 5)]),
        (np.int64, -30, [2**60], [0]),
    ],
    ids=str,
)
def test_round_decimals(dtype: Any, decimals: int, x: list[Any], expected: list[Any], device: int) -> None:
    array = np.array(x, dtype)
    plain = Case("aclnnRoundDecimals", {"self": array, "decimals": decimals, "out": np.zeros_like(array)}).run(1)
    assert_equal(plain, np.array(expected, dtype))
    assert_equal(Case("aclnnInplaceRoundDecimals", {"selfRef": array, "decimals": decimals}).run(2), plain)


def test_round_decimals_rules(chip) -> None:
    case = Case("aclnnRoundDecimals", {"self": Meta((2, 3), np.float32), "decimals": 1, "out": Meta((2, 3), np.float32)})
    assert case.status() == 0
    for wrong in (
        {"out": Meta((3, 2), np.float32)},
        {"out": Meta((2, 3), np.float16)},
        {"self": Meta((2, 3), np.int8)},
        {"self": Meta((1,) * 9, np.float32)},
    ):
        assert case.but(**wrong).status() == ACLNN_ERR_PARAM_INVALID, wrong
    assert case.but(self=None).status() == ACLNN_ERR_PARAM_NULLPTR
    chip("Ascend310P3")
    assert case.status() == ACLNN_ERR_INNER_NULLPTR


def test_gamma_functions_below_zero(device: int) -> None:
    x = np.array([-0.5, -1.5, -2.25, -10.75, -1.0, -7.0], np.float64)
    result = Case("aclnnLgamma", {"self": x, "out": np.zeros_like(x)}).run()
    np.testing.assert_allclose(result, [*(math.lgamma(one) for one in x[:4]), INF, INF], rtol=1e-14)
    result = Case("aclnnDigamma", {"self": x, "out": np.zeros_like(x)}).run()
    step = 1e-5
    slopes = [(math.lgamma(one + step) - math.lgamma(one - step)) / (2 * step) for one in x[:4]]
    np.testing.assert_allclose(result[:4], slopes, rtol=1e-7, atol=1e-8)
    assert np.isnan(result[4:]).all()
    with np.errstate(all="ignore"):
        assert_meets_standard(Case("aclnnDigamma", {"self": x[:4].astype(FLOAT), "out": np.zeros(4, FLOAT)}).run(), slopes)
