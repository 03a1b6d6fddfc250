"""Operators that draw: the generator bit by bit, distributions with fixed seeds, masks, and what their arguments can be wrong in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core.dtypes import BY_CODE
from acl_emu.engine.philox import fill_words, words_in_numpy
from aclnnop.random.drawing import PIECE
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import floats, layouts, shapes

DOUBLE = np.dtype(np.float64)
NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"
MANY = 40_000
SEED = {"seed": 20_240_501, "offset": 12}
TENSORS = {"seedTensor": np.array([20_240_501]), "offsetTensor": np.array([4]), "offset": 8}
"""The same seed and offset."""

KNOWN_WORDS = {
    (0, 0, 0): "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    (2**64 - 1, 2**64 - 1, 2**64 - 1): "408f276d 41c83b0e a20bc7c6 6d5451fd",
    (0x299F31D0A4093822, 0x0370734413198A2E, 0x85A308D3243F6A88): "d16cfe09 94fdcceb 5001e420 24126ea1",
}
"""Key and both halves of the counter, with the published results of the generator."""


@pytest.mark.parametrize("counter", KNOWN_WORDS)
def test_known_words(counter: tuple[int, int, int]) -> None:
    words = np.empty(4, np.uint32)
    fill_words(words, *counter)
    expected = [int(word, 16) for word in KNOWN_WORDS[counter].split()]
    assert words.tolist() == words_in_numpy(*counter, 1).tolist() == expected


@given(st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**40), st.integers(1, 300))
def test_words_in_c_and_in_numpy(seed: int, offset: int, first: int, blocks: int) -> None:
    words = np.empty(4 * blocks, np.uint32)
    fill_words(words, seed, offset, first)
    assert (words == words_in_numpy(seed, offset, first, blocks)).all()


# Distributions. The largest distance between two distribution functions is below 1.63 / sqrt(n) in 99 of 100 cases; the seed is fixed.


def distance(values: Array, cdf: Callable[[float], float]) -> float:
    """Between the distribution of the numbers and another (Kolmogorov and Smirnov), times the root of their number."""
    found = np.sort(values.astype(np.float64).ravel())
    wanted = np.array([cdf(x) for x in found.tolist()])
    steps = np.arange(found.size + 1) / found.size
    return float(max((wanted - steps[:-1]).max(), (steps[1:] - wanted).max()) * math.sqrt(found.size))


def normal_cdf(x: float) -> float:
    return 0.5 * math.erfc((1.5 - x) / 0.5 / math.sqrt(2))


DISTRIBUTIONS: dict[str, tuple[dict[str, Any], Callable[[float], float], float, float]] = {
    "aclnnInplaceNormal": ({"mean": 1.5, "std": 0.5}, normal_cdf, 1.5, 0.5),
    "aclnnInplaceUniform": ({"from": -1.0, "to": 3.0}, lambda x: (x + 1) / 4, 1.0, 4 / math.sqrt(12)),
    "aclnnSimThreadExponential": ({"count": MANY, "lambda": 2.0}, lambda x: 1 - math.exp(-2 * x), 0.5, 0.5),
    "aclnnNormalFloatFloat": ({"mean": 1.5, "std": 0.5}, normal_cdf, 1.5, 0.5),
}


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE], ids=str)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str, dtype: np.dtype[Any], device: int, chip: Callable[[str], None]) -> None:
    if name == "aclnnSimThreadExponential" and dtype == DOUBLE:
        pytest.skip("it has no such type")
    chip(NEWEST)
    given_by, cdf, mean, std = DISTRIBUTIONS[name]
    target = "out" if name.startswith("aclnnNormal") else "selfRef"
    drawn = Case(name, {target: np.zeros(MANY, dtype), **given_by, **SEED}).run().astype(np.float64)
    assert abs(drawn.mean() - mean) < 4 * std / math.sqrt(MANY) + mean * np.finfo(np.float32).eps
    assert abs(drawn.std() / std - 1) < 0.03
    if dtype in (FLOAT, DOUBLE):
        assert distance(drawn, cdf) < 1.63
        assert np.unique(drawn).size > 0.99 * MANY
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / math.sqrt(MANY)
    assert abs(np.corrcoef(drawn[: MANY // 2], drawn[MANY // 2 :])[0, 1]) < 4 / math.sqrt(MANY / 2)


def test_uniform_numbers_are_the_words(device: int) -> None:
    drawn = Case("aclnnInplaceUniform", {"selfRef": np.zeros(10, np.float32), "from": 0.0, "to": 1.0, "seed": 7, "offset": 3}).run()
    assert (drawn == (words_in_numpy(7, 3, 0, 3)[:10] >> 8) * 2.0**-24).all()


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, *map(np.dtype, "bBhiq")], ids=str)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, -2.0), (5.0, 5.0), (0.1, 0.10001), (-100.0, 100.0)], ids=str)
def test_uniform_numbers_stay_below_the_limit(dtype: np.dtype[Any], low: float, high: float, device: int) -> None:
    """Limits as the type holds them: what is next to ``to`` is never rounded up to it."""
    if dtype.kind == "u" and low < 0:
        pytest.skip("it holds no such numbers")
    drawn = Case("aclnnInplaceUniform", {"selfRef": np.zeros(5000, dtype), "from": low, "to": high, **SEED}).run().astype(np.float64)
    if dtype in (*FLOATS, DOUBLE):
        first, end = (float(np.asarray(limit).astype(dtype)) for limit in (low, high))
        assert drawn.min() >= first
        assert drawn.max() < end or first == end == drawn.max()
    else:
        assert math.trunc(low) <= drawn.min()
        assert drawn.max() <= math.trunc(high)


@pytest.mark.parametrize("size", [1, 2, 3, 5, PIECE - 1, PIECE + 1, 2 * PIECE + 3])
@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE], ids=str)
def test_every_element_is_drawn(size: int, dtype: np.dtype[Any], device: int) -> None:
    """Pieces of a draw share no words, and elements beside it stay as they are."""
    drawn = Case("aclnnInplaceNormal", {"selfRef": np.full(size, np.nan, dtype), "mean": 0.0, "std": 1.0, **SEED}).run()
    assert np.isfinite(drawn).all()
    assert np.unique(drawn).size > 0.98 * size


@given(seed=st.integers(0, 2**62), offset=st.integers(0, 2**62), layout=layouts)
@settings(max_examples=20)
def test_offsets_are_independent(device: int, seed: int, offset: int, layout: int) -> None:
    """Neighbouring offsets and seeds share nothing, whatever the strides."""
    case = Case("aclnnInplaceUniform", {"selfRef": np.zeros((31, 33), np.float32), "from": 0.0, "to": 1.0, "seed": seed, "offset": offset})
    one = case.run(layout)
    assert (one == case.run()).all()
    for other in (case.but(offset=offset + 1), case.but(offset=offset + 4), case.but(seed=seed + 1)):
        assert np.intersect1d(one, other.run()).size < 10


SAME_DRAWS = {
    "aclnnInplaceNormalTensor": {"selfRef": np.zeros((3, 7), np.float32), "mean": 1.0, "std": 2.0},
    "aclnnInplaceUniformTensor": {"selfRef": np.zeros((3, 7), np.float32), "from": 1.0, "to": 2.0},
    "aclnnInplaceRandomTensor": {"selfRef": np.zeros((3, 7), np.int64), "from": 1, "to": 2000},
    "aclnnInplaceRandomWithoutFromToTensor": {"selfRef": np.zeros((3, 7), np.int64)},
    "aclnnDropoutGenMaskV2Tensor": {"shape": [3, 777], "prob": 0.5, "probDataType": 0, "out": np.zeros(304, np.uint8)},
    "aclnnMultinomialTensor": {
        "self": np.ones((3, 99), np.float32),
        "numsamples": 4,
        "replacement": True,
        "out": np.zeros((3, 4), np.int64),
    },
}


@pytest.mark.parametrize("name", SAME_DRAWS)
def test_seeds_in_tensors(name: str, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    plain = Case(name.removesuffix("Tensor"), {**SAME_DRAWS[name], **SEED}).run()
    assert (Case(name, {**SAME_DRAWS[name], **TENSORS}).run() == plain).all()


# Means and deviations that are tensors


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE], ids=str)
@given(data=st.data())
@settings(max_examples=20)
def test_normal_with_tensors(dtype: np.dtype[Any], data: st.DataObject, device: int, chip: Callable[[str], None]) -> None:
    """All forms scale the same numbers."""
    chip(NEWEST)
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    mean = data.draw(floats((rows, 1), FLOAT)).astype(dtype)
    std = np.abs(data.draw(floats((columns,), FLOAT))).astype(dtype)
    wide = [np.broadcast_to(array, (rows, columns)).copy() for array in (mean, std)]
    out = np.zeros((rows, columns), dtype)
    standard = Case(
        "aclnnNormalFloatFloat", {"mean": 0.0, "std": 1.0, **SEED, "out": out.astype(np.float64 if dtype == DOUBLE else np.float32)}
    ).run()
    both = Case("aclnnNormalTensorTensor", {"mean": mean, "std": std, **SEED, "out": out})
    by_mean = Case("aclnnNormalTensorFloat", {"mean": wide[0], "std": 2.5, **SEED, "out": out})
    by_std = Case("aclnnNormalFloatTensor", {"mean": -1.5, "std": wide[1], **SEED, "out": out})
    z, m, s = (array.astype(np.float64) for array in (standard, *wide))
    for case, expected, largest in (
        (both, m + s * z, np.abs(m)),
        (by_mean, m + 2.5 * z, np.abs(m)),
        (by_std, s * z - 1.5, np.full(z.shape, 1.5)),
    ):
        result = case.run(data.draw(layouts))
        if dtype == DOUBLE:
            np.testing.assert_allclose(result, expected, rtol=1e-13, atol=1e-13)
        else:
            assert_accurate(result, expected, largest=np.maximum(largest, np.abs(expected - m)))


def test_normal_of_a_single_deviation_for_nothing(device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    call = Case("aclnnNormalFloatTensor", {"mean": 1.0, "std": Meta((1, 1), FLOAT), **SEED, "out": Meta((0, 4), FLOAT)})
    assert call.status() == 0
    assert call.but(out=Meta((2, 4), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID


# Integers


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, *map(np.dtype, "bBhiq"), np.dtype(np.complex64)], ids=str)
def test_integers(dtype: np.dtype[Any], device: int) -> None:
    drawn = Case("aclnnInplaceRandom", {"selfRef": np.zeros(MANY, dtype), "from": 3, "to": 13, **SEED}).run().real.astype(np.float64)
    counts = np.array([(drawn == value).sum() for value in range(3, 13)])
    assert counts.sum() == MANY
    assert ((counts - MANY / 10) ** 2 / (MANY / 10)).sum() < 21.7  # chi-square of 9 degrees of freedom, 1 %


@pytest.mark.parametrize(("low", "high"), [(-(2**63), 2**63 - 1), (-5, 2**62), (2**63 - 2, 2**63 - 1), (0, 2**33)])
def test_integers_of_64_bits(low: int, high: int, device: int) -> None:
    drawn = Case("aclnnInplaceRandom", {"selfRef": np.zeros(MANY, np.int64), "from": low, "to": high, **SEED}).run()
    assert drawn.min() >= low
    assert drawn.max() < high
    share = (drawn.astype(np.float64) - low) / (high - low)
    assert high - low == 1 or distance(share, lambda x: x) < 1.63


@pytest.mark.parametrize(
    ("dtype", "largest"), [("?", 1), ("b", 127), ("B", 255), ("h", 2**15 - 1), (FLOAT16, 2**11), (BF16, 2**8)], ids=str
)
def test_integers_without_limits(dtype: Any, largest: int, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    drawn = Case("aclnnInplaceRandomWithoutFromTo", {"selfRef": np.zeros(MANY, dtype), **SEED}).run().astype(np.float64)
    assert drawn.min() == 0
    assert 0.999 * largest <= drawn.max() <= largest
    assert abs(drawn.mean() - largest / 2) < largest / math.sqrt(12) * 4 / math.sqrt(MANY)


# Ones and zeros


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, *map(np.dtype, "?bBhiq")], ids=str)
@pytest.mark.parametrize("prob", [0.0, 0.1, 0.75, 1.0])
def test_bernoulli(dtype: np.dtype[Any], prob: float, device: int) -> None:
    drawn = Case("aclnnInplaceBernoulli", {"selfRef": np.full(MANY, 1, dtype), "prob": prob, **SEED}).run().astype(np.float64)
    assert set(np.unique(drawn)) <= {0.0, 1.0}
    assert abs(drawn.mean() - prob) <= 4 * math.sqrt(prob * (1 - prob) / MANY)


@pytest.mark.parametrize("dtype", [FLOAT16, FLOAT, DOUBLE, BF16], ids=str)
def test_bernoulli_with_probabilities(dtype: np.dtype[Any], device: int) -> None:
    """Every element has its own; fewer than elements begin again."""
    prob = np.tile(np.array([0, 0.25, 0.5, 1]), MANY // 4).astype(dtype)
    drawn = Case("aclnnInplaceBernoulliTensor", {"selfRef": np.full(MANY, 1.0, np.float32), "prob": prob, **SEED})
    shares = drawn.run().reshape(-1, 4).mean(axis=0, dtype=np.float64)
    assert shares[0] == 0
    assert shares[3] == 1
    assert np.abs(shares - [0, 0.25, 0.5, 1]).max() < 4 * 0.5 / math.sqrt(MANY / 4)
    assert (drawn.but(prob=prob[:4]).run() == drawn.run()).all()
    assert (drawn.but(prob=np.concatenate((prob, prob))).run() == drawn.run()).all()


# Dropout


def bits(mask: Array) -> Array:
    """One after the other, the lowest of each byte first."""
    return (mask.astype(np.int64)[:, np.newaxis] >> np.arange(8) & 1).ravel()


@pytest.mark.parametrize("name", ["aclnnDropoutGenMask", "aclnnDropoutGenMaskV2"])
@pytest.mark.parametrize("prob", [0.0, 0.1, 0.5, 1.0])
def test_mask(name: str, prob: float, device: int) -> None:
    """Bits behind the last element are drawn, too."""
    count = PIECE + 1000
    extra = {"probDataType": 27} if name.endswith("V2") else {}
    mask = Case(name, {"shape": [count // 8, 8], "prob": prob, **SEED, **extra, "out": np.zeros(-(-count // 128) * 16, np.uint8)}).run(5)
    kept = bits(mask)
    assert abs(kept.mean() - (1 - prob)) <= 4 * math.sqrt(prob * (1 - prob) / kept.size)
    if 0 < prob < 1:
        assert np.abs(kept.reshape(-1, 8).mean(axis=0) - (1 - prob)).max() < 4 * math.sqrt(prob * (1 - prob) / kept.size * 8)
        assert abs(np.corrcoef(kept[:-1], kept[1:])[0, 1]) < 4 / math.sqrt(kept.size)


USES = {
    "aclnnDropoutDoMask": ("self", "prob", "out"),
    "aclnnDropoutBackward": ("gradOutput", "scale", "out"),
    "aclnnDropoutV3Grad": ("gradY", "scale", "gradX"),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", USES)
@given(data=st.data())
@settings(max_examples=30)
def test_use_of_a_mask(name: str, dtype: np.dtype[Any], data: st.DataObject, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x = data.draw(floats(data.draw(shapes(3, 12, 0)), dtype, special=True))
    mask = numbers((-(-x.size // 128) * 16,), np.uint8, data.draw(st.integers(0, 99)), 100)
    first, factor, last = USES[name]
    value = data.draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0] if factor == "prob" else [0.0, 1.0, 1.25, 2.0]))
    result = Case(name, {first: x, "mask": mask, factor: value, last: np.zeros(x.shape, dtype)}).run(data.draw(layouts))
    kept = bits(mask)[: x.size].reshape(x.shape) == 1
    wide = x.astype(np.float64)
    scale = (np.inf if value == 1 else 1 / (1 - value)) if factor == "prob" else value
    with np.errstate(all="ignore"):
        if name == "aclnnDropoutV3Grad":
            expected = wide * kept * scale
        elif scale in (0, np.inf):
            expected = np.zeros(x.shape)
        else:
            expected = wide if scale == 1 else np.where(kept, wide * scale, 0)
    assert_accurate(result, expected)


def test_the_documented_mask(device: int) -> None:
    mask = np.array([42] + [0] * 15, np.uint8)
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    result = Case("aclnnDropoutBackward", {"gradOutput": x, "mask": mask, "scale": 2.0, "out": np.ones((4, 2), np.float32)}).run()
    assert result.ravel().tolist() == [0, 2, 0, 6, 0, 10, 0, 0]


@pytest.mark.parametrize("name", ["aclnnDropout", "aclnnDropoutV3"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_dropout_is_its_two_parts(name: str, dtype: np.dtype[Any], device: int, chip: Callable[[str], None]) -> None:
    """The same mask as one that is drawn alone, and what it does to the elements."""
    chip(NEWEST if name.endswith("V3") else USUAL)
    extra = {"optionalNoiseShape": None} if name.endswith("V3") else {"train": True}
    x, out = numbers((37, 21), dtype, 1), np.zeros((37, 21), dtype)
    call = Case(name, {"input": x, "p": 0.3, **extra, **SEED, "out": out, "maskOut": np.full(112, 85, np.uint8)})
    result, mask = call.results(3)
    assert (mask == Case("aclnnDropoutGenMask", {"shape": [777], "prob": 0.3, **SEED, "out": np.zeros(112, np.uint8)}).run()).all()
    assert_accurate(result, np.where(bits(mask)[:777].reshape(37, 21), x.astype(np.float64) / 0.7, 0))
    for p, expected in ((0.0, x), (1.0, out)):
        result, mask = call.but(p=p).results()
        assert (result == expected).all()
        assert (mask == 85).all()
    if name == "aclnnDropout":
        result, mask = call.but(train=False).results()
        assert (result == x).all()
        assert (mask == 85).all()


# Classes and orders


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE], ids=str)
def test_classes_with_replacement(dtype: np.dtype[Any], device: int) -> None:
    prob = np.array([[0, 10, 3, 0, 7], [1, 1, 1, 1, 0]]).astype(dtype)
    call = Case("aclnnMultinomial", {"self": prob, "numsamples": MANY, "replacement": True, **SEED, "out": np.zeros((2, MANY), np.int64)})
    drawn = call.run()
    for row, weights in zip(drawn, prob.astype(np.float64), strict=True):
        counts, wanted = np.bincount(row, minlength=5), weights / weights.sum() * MANY
        assert (counts[wanted == 0] == 0).all()
        assert ((counts - wanted)[wanted > 0] ** 2 / wanted[wanted > 0]).sum() < 11.4  # chi-square of 3 degrees of freedom, 1 %


@pytest.mark.parametrize("classes", [6, 60])
def test_classes_without_replacement(classes: int, device: int) -> None:
    """The first class is drawn as with replacement, the second among the others."""
    prob = np.zeros(classes, np.float32)
    prob[:4] = [5, 3, 2, 0]
    rows = np.broadcast_to(prob, (10_000, classes)).copy()
    out = np.zeros((10_000, 3), np.int64)
    drawn = Case("aclnnMultinomial", {"self": rows, "numsamples": 3, "replacement": False, **SEED, "out": out}).run()
    assert (np.sort(drawn, axis=1) == [0, 1, 2]).all()
    orders = {(a, b): prob[a] / 10 * prob[b] / (10 - prob[a]) for a in range(3) for b in range(3) if a != b}
    counts = {order: int((drawn[:, :2] == order).all(axis=1).sum()) for order in orders}
    assert sum((counts[order] - 10_000 * share) ** 2 / (10_000 * share) for order, share in orders.items()) < 15.1  # 5 degrees, 1 %


def test_classes_of_no_probability(device: int) -> None:
    """Nothing to choose from: any classes, but classes."""
    for values in ([0, 0, 0], [np.nan, 1, 2], [np.inf, np.inf, 1]):
        for replacement in (True, False):
            call = {"self": np.array(values, np.float32), "numsamples": 2, "replacement": replacement, **SEED, "out": np.zeros(2, np.int64)}
            drawn = Case("aclnnMultinomial", call).run()
            assert ((drawn >= 0) & (drawn < 3)).all()


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, *map(np.dtype, "hiq")], ids=str)
def test_permutation(dtype: np.dtype[Any], device: int) -> None:
    n = 257 if dtype == BF16 else 2000
    drawn = Case("aclnnRandperm", {"n": n, **SEED, "out": np.zeros(n, dtype)}).run(2).astype(np.int64)
    assert sorted(drawn) == list(range(n))
    assert abs(np.corrcoef(drawn, np.arange(n))[0, 1]) < 4 / math.sqrt(n)


def test_permutations_are_alike(device: int) -> None:
    orders = [tuple(Case("aclnnRandperm", {"n": 3, "seed": 1, "offset": 4 * i, "out": np.zeros(3, np.int64)}).run()) for i in range(600)]
    counts = np.array([orders.count(order) for order in set(orders)])
    assert counts.size == 6
    assert ((counts - 100) ** 2 / 100).sum() < 15.1


# Errors

CALLS: dict[str, dict[str, Any]] = {
    "aclnnInplaceNormal": {"selfRef": Meta((2, 3), FLOAT), "mean": 0.0, "std": 1.0, **SEED},
    "aclnnInplaceNormalTensor": {
        "selfRef": Meta((2, 3), FLOAT),
        "mean": 0.0,
        "std": 1.0,
        "seedTensor": Meta((1,), np.int64),
        "offsetTensor": Meta((1,), np.int64),
        "offset": 0,
    },
    "aclnnInplaceUniform": {"selfRef": Meta((2, 3), FLOAT), "from": 0.0, "to": 1.0, **SEED},
    "aclnnInplaceUniformTensor": {
        "selfRef": Meta((2, 3), FLOAT16),
        "from": 0.0,
        "to": 65504.0,
        "seedTensor": Meta((1,), np.uint64),
        "offsetTensor": Meta((1,), np.uint64),
        "offset": 0,
    },
    "aclnnInplaceRandom": {"selfRef": Meta((2, 3), np.int8), "from": 0, "to": 10, **SEED},
    "aclnnSimThreadExponential": {"selfRef": Meta((2, 3), FLOAT), "count": 6, "lambda": 1.0, **SEED},
    "aclnnNormalFloatFloat": {"mean": 0.0, "std": 1.0, **SEED, "out": Meta((2, 3), FLOAT)},
    "aclnnNormalFloatTensor": {"mean": 0.0, "std": Meta((2, 3), FLOAT), **SEED, "out": Meta((2, 3), FLOAT)},
    "aclnnNormalTensorFloat": {"mean": Meta((2, 3), FLOAT), "std": 1.0, **SEED, "out": Meta((2, 3), FLOAT)},
    "aclnnNormalTensorTensor": {"mean": Meta((2, 1), FLOAT), "std": Meta((3,), FLOAT), **SEED, "out": Meta((2, 3), FLOAT)},
    "aclnnBernoulli": {"self": Meta((2, 3), FLOAT), "prob": 0.5, **SEED, "out": Meta((2, 3), FLOAT)},
    "aclnnInplaceBernoulli": {"selfRef": Meta((2, 3), FLOAT), "prob": 0.5, **SEED},
    "aclnnBernoulliTensor": {"self": Meta((2, 3), FLOAT), "prob": Meta((2, 3), FLOAT), **SEED, "out": Meta((2, 3), FLOAT)},
    "aclnnRandperm": {"n": 5, **SEED, "out": Meta((5,), np.int64)},
    "aclnnMultinomial": {"self": Meta((2, 5), FLOAT), "numsamples": 3, "replacement": False, **SEED, "out": Meta((2, 3), np.int64)},
    "aclnnDropoutGenMask": {"shape": [4, 2], "prob": 0.5, **SEED, "out": Meta((16,), np.uint8)},
    "aclnnDropoutGenMaskV2": {"shape": [4, 2], "prob": 0.5, **SEED, "probDataType": 0, "out": Meta((16,), np.uint8)},
    "aclnnDropoutDoMask": {"self": Meta((4, 2), FLOAT), "mask": Meta((16,), np.uint8), "prob": 0.5, "out": Meta((4, 2), FLOAT)},
    "aclnnDropoutBackward": {"gradOutput": Meta((4, 2), FLOAT), "mask": Meta((16,), np.uint8), "scale": 2.0, "out": Meta((4, 2), FLOAT)},
    "aclnnDropoutV3Grad": {"gradY": Meta((4, 2), FLOAT), "mask": Meta((16,), np.uint8), "scale": 2.0, "gradX": Meta((4, 2), FLOAT)},
    "aclnnDropout": {
        "input": Meta((4, 2), FLOAT),
        "p": 0.5,
        "train": True,
        **SEED,
        "out": Meta((4, 2), FLOAT),
        "maskOut": Meta((16,), np.uint8),
    },
    "aclnnDropoutV3": {
        "input": Meta((4, 2), FLOAT),
        "optionalNoiseShape": None,
        "p": 0.5,
        **SEED,
        "out": Meta((4, 2), FLOAT),
        "maskOut": Meta((16,), np.uint8),
    },
}

NAN = math.nan
WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "aclnnInplaceNormal": [({"std": -1.0}, "std is -1"), ({"std": NAN}, "std is nan"), ({"selfRef": Meta((1,) * 9, FLOAT)}, "selfRef")],
    "aclnnInplaceNormalTensor": [({"std": -0.5}, "std is -0.5"), ({"seedTensor": Meta((2,), np.int64)}, "seedTensor has 2 elements")],
    "aclnnInplaceUniform": [
        ({"from": 2.0}, "from is 2"),
        ({"to": NAN}, "from is 0"),
        ({"selfRef": Meta((2,), np.bool_)}, "selfRef has dtype"),
    ],
    "aclnnInplaceUniformTensor": [
        ({"from": 65505.0, "to": 65504.0}, "at most that of to"),
        ({"to": 65505.0}, "to is 65505"),
        ({"from": -65505.0, "to": -1.0}, "from is -65505"),
        ({"from": -1.0}, "to - from is 65505"),
        ({"from": -math.inf}, "from is -inf"),
        ({"selfRef": Meta((2,), BF16), "to": 1e39}, "to is 1e+39"),
        ({"selfRef": Meta((2,), DOUBLE), "from": -1e308, "to": 1e308}, "to - from is inf"),
        ({"selfRef": Meta((2,), np.uint8), "from": -0.5, "to": 9.0}, "from is -0.5"),
        ({"selfRef": Meta((2,), np.int8), "from": -100.0, "to": 100.0}, "to - from is 200"),
        ({"selfRef": Meta((2,), np.int64), "to": 2.0**63}, "to is 9.2"),
        ({"selfRef": Meta((1,) * 9, FLOAT)}, "selfRef has 9 dimensions"),
        ({"selfRef": Meta((2,), np.bool_)}, "selfRef has dtype"),
    ],
    "aclnnInplaceRandom": [
        ({"from": 10}, "from is 10"),
        ({"to": 129}, "to is 129"),
        ({"selfRef": Meta((2,), np.bool_), "to": 3}, "to is 3"),
    ],
    "aclnnSimThreadExponential": [({"lambda": 0.0}, "lambda is 0"), ({"lambda": NAN}, "lambda is nan"), ({"count": -1}, "count is -1")],
    "aclnnNormalFloatFloat": [({"out": Meta((1,) * 9, FLOAT)}, "out has 9 dimensions"), ({"out": Meta((2,), np.int32)}, "out has dtype")],
    "aclnnNormalFloatTensor": [
        ({"std": Meta((0, 3), FLOAT)}, "std has shape [0, 3]"),
        ({"out": Meta((3, 2), FLOAT)}, "out has shape [3, 2]"),
    ],
    "aclnnNormalTensorFloat": [({"mean": Meta((3,), FLOAT)}, "out has shape"), ({"mean": Meta((2, 3), DOUBLE)}, "out has dtype")],
    "aclnnNormalTensorTensor": [
        ({"std": Meta((3, 3), FLOAT)}, "does not broadcast"),
        ({"out": Meta((2, 2), FLOAT)}, "out has shape [2, 2]"),
    ],
    "aclnnBernoulli": [
        ({"prob": 1.5}, "prob is 1.5"),
        ({"prob": -0.5}, "prob is -0.5"),
        ({"prob": NAN}, "prob is nan"),
        ({"prob": 1}, "prob has dtype"),
        ({"out": Meta((2, 3), FLOAT16)}, "out has dtype"),
        ({"out": Meta((3, 2), FLOAT)}, "out has shape"),
    ],
    "aclnnInplaceBernoulli": [({"prob": 1.5}, "prob is 1.5"), ({"prob": np.int32(1)}, "prob has dtype")],
    "aclnnBernoulliTensor": [({"prob": Meta((2, 3), np.int32)}, "prob has dtype"), ({"out": Meta((3, 2), FLOAT)}, "out has shape")],
    "aclnnRandperm": [({"n": -1}, "n is -1"), ({"n": 4}, "out has shape [5]"), ({"out": Meta((5,), np.bool_)}, "out has dtype")],
    "aclnnMultinomial": [
        ({"numsamples": 0}, "numsamples is 0"),
        ({"numsamples": 6}, "numsamples is 6"),
        ({"self": Meta((2, 3, 5), FLOAT)}, "self has 3 dimensions"),
        ({"self": Meta((5,), FLOAT)}, "out has shape [2, 3]"),
        ({"self": Meta((3, 5), FLOAT)}, "out has shape [2, 3]"),
        ({"out": Meta((2, 4), np.int64)}, "out has shape [2, 4]"),
        ({"out": Meta((2, 3), np.int32)}, "out has dtype"),
        ({"self": Meta((2, 2**24 + 1), FLOAT)}, "classes, expected at most"),
        ({"self": Meta((2, 0), FLOAT), "replacement": True}, "at least one class"),
    ],
    "aclnnDropoutGenMask": [
        ({"prob": 1.5}, "prob is 1.5"),
        ({"out": Meta((17,), np.uint8)}, "out has shape"),
        ({"shape": [200]}, "out has shape"),
    ],
    "aclnnDropoutGenMaskV2": [
        ({"prob": NAN}, "prob is nan"),
        ({"shape": [-1, 3]}, "shape is [-1, 3]"),
        ({"out": Meta((16,), np.int8)}, "out has dtype"),
    ],
    "aclnnDropoutDoMask": [
        ({"prob": -0.1}, "prob is -0.1"),
        ({"out": Meta((2, 4), FLOAT)}, "out has shape"),
        ({"mask": Meta((8,), np.uint8)}, "mask has 8 elements"),
        ({"mask": Meta((16,), np.int8)}, "mask has dtype"),
    ],
    "aclnnDropoutBackward": [
        ({"scale": 0.5}, "scale is 0.5"),
        ({"scale": NAN}, "scale is nan"),
        ({"out": Meta((8,), FLOAT)}, "out has shape"),
        ({"mask": Meta((17,), np.uint8)}, "mask has 17 elements"),
    ],
    "aclnnDropoutV3Grad": [({"gradX": Meta((2, 4), FLOAT)}, "gradX has shape"), ({"mask": Meta((1,), np.uint8)}, "mask has 1 elements")],
    "aclnnDropout": [
        ({"p": 1.1}, "p is 1.1"),
        ({"out": Meta((2, 4), FLOAT)}, "out has shape"),
        ({"maskOut": Meta((8,), np.uint8)}, "maskOut has 8 elements"),
        ({"input": Meta((1,) * 9, FLOAT)}, "input has 9 dimensions"),
    ],
    "aclnnDropoutV3": [
        ({"p": -1.0}, "p is -1"),
        ({"offset": 3}, "offset is 3"),
        ({"maskOut": Meta((8,), np.uint8)}, "maskOut has 8 elements"),
    ],
}

ON_NEWEST = {"aclnnDropoutV3", "aclnnDropoutV3Grad"}


@pytest.mark.parametrize("name", CALLS)
def test_errors(name: str, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST if name in ON_NEWEST else USUAL)
    call = Case(name, CALLS[name])
    assert call.status() == 0
    for changes, text in WRONG[name]:
        assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
        assert text in message(), changes
    for parameter, value in CALLS[name].items():
        if isinstance(value, Meta):
            assert call.but(**{parameter: None}).status() == ACLNN_ERR_PARAM_NULLPTR, parameter


@pytest.mark.parametrize("name", ["aclnnBernoulli", "aclnnInplaceBernoulli", "aclnnBernoulliTensor"])
def test_offsets_inside_a_block(name: str, device: int, chip: Callable[[str], None]) -> None:
    """The newest chips refuse them."""
    for soc, status in ((NEWEST, ACLNN_ERR_PARAM_INVALID), (USUAL, 0)):
        chip(soc)
        assert Case(name, CALLS[name]).but(offset=6).status() == status


def test_exponential_numbers_in_the_first_elements(device: int, chip: Callable[[str], None]) -> None:
    chip(USUAL)
    call = Case("aclnnSimThreadExponential", {"selfRef": np.full((2, 5), -1, np.float32), "count": 7, "lambda": 1.0, **SEED})
    drawn = call.run(3).ravel()
    assert (drawn[:7] > 0).all()
    assert (drawn[7:] == -1).all()
    chip(NEWEST)
    assert call.status() == ACLNN_ERR_PARAM_INVALID


TYPES_ON_TRAINING = {"aclnnInplaceNormal": "i", "aclnnBernoulliTensor": "i"}


@pytest.mark.parametrize("name", TYPES_ON_TRAINING)
def test_whole_types_of_the_newest_chips(name: str, device: int, chip: Callable[[str], None]) -> None:
    changed = {parameter: Meta((2, 3), np.int32) for parameter in ("selfRef", "self", "out") if parameter in CALLS[name]}
    for soc, status in ((NEWEST, 0), (USUAL, ACLNN_ERR_PARAM_INVALID)):
        chip(soc)
        assert Case(name, CALLS[name]).but(**changed).status() == status


def test_data_types_of_masks(device: int) -> None:
    """The type of the elements that a mask is for has no influence."""
    call = Case("aclnnDropoutGenMaskV2", CALLS["aclnnDropoutGenMaskV2"])
    assert {call.but(probDataType=code).status() for code in BY_CODE} == {0}
