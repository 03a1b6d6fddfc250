"""The likeliest tokens, and drawing from them, against the formulas row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Case, Meta, numbers
from tests.operators.drawing import layouts
from tests.operators.products import products_of

INF = math.inf
ROWS, COUNT = 5, 12


def softmax(row: list[float]) -> list[float]:
    top = max(row)
    powers = [math.exp(value - top) for value in row]
    return [power / math.fsum(powers) for power in powers]


def apply(logits: Any, p: Any, k: Any, out: Any) -> Case:
    return Case("aclnnApplyTopKTopP", {"logits": logits, "p": p, "k": k, "out": out})


def filtered(row: list[float], p: float | None, k: int | None) -> list[float]:
    order = sorted(range(len(row)), key=lambda i: row[i])
    ranked = [row[i] for i in order]
    if k is not None and 0 < k < len(row):
        least = ranked[-k]
        ranked = [value if value >= least else -INF for value in ranked]
    if p is not None:
        chances = softmax(ranked)
        sums = [math.fsum(chances[: end + 1]) for end in range(len(row))]
        ranked = [
            value if total > 1 - p or end == len(row) - 1 else -INF for end, (value, total) in enumerate(zip(ranked, sums, strict=True))
        ]
    found = [0.0] * len(row)
    for place, value in zip(order, ranked, strict=True):
        found[place] = value
    return found


@given(st.data())
def test_filtered_logits(device: int, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(FLOATS))
    logits = numbers((ROWS, COUNT), dtype, data.draw(st.integers(0, 99)), 2)
    p = np.array([0.0, 0.3, 0.71, 0.95, 1.0]).astype(dtype) if data.draw(st.booleans()) else None
    k = np.array([1, 4, 0, 12, -3], np.int32) if p is None or data.draw(st.booleans()) else None
    expected = [
        filtered(row, None if p is None else float(p[i]), None if k is None else int(k[i]))
        for i, row in enumerate(logits.astype(np.float64).tolist())
    ]
    assert_equal(apply(logits, p, k, np.zeros_like(logits)).run(data.draw(layouts)), expected)


def test_documented_filter(device: int) -> None:
    logits = np.arange(1, 13, dtype=FLOAT).reshape(3, 4)
    found = apply(logits, np.array([0.2, 0.4, 0.6], FLOAT), np.array([1, 2, 3], np.int32), np.zeros((3, 4), FLOAT)).run()
    assert_equal(found, [[-INF, -INF, -INF, 4], [-INF, -INF, -INF, 8], [-INF, -INF, -INF, 12]])


def sample(logits: Any, k: Any, p: Any, q: Any, *, need: bool = True, tokens: Any = None, left: Any = None) -> Case:
    rows, count = logits.shape
    return Case(
        "aclnnTopKTopPSample",
        {
            "logits": logits,
            "topK": k,
            "topP": p,
            "q": q,
            "eps": 1e-8,
            "isNeedLogits": need,
            "topKGuess": 32,
            "logitsSelectIdx": np.full(rows, -1, np.int64) if tokens is None else tokens,
            "logitsTopKPSelect": np.zeros((rows, count), FLOAT) if left is None else left,
        },
    )


def sample_v2(logits: Any, k: Any, p: Any, q: Any, least: Any, *, most: int = 1024, is_logits: bool = True, chances: bool = False) -> Case:
    rows, count = logits.shape
    plain = sample(logits, k, p, q).arguments
    return Case(
        "aclnnTopKTopPSampleV2",
        {
            **plain,
            "minPs": least,
            "ksMax": most,
            "inputIsLogits": is_logits,
            "isNeedSampleResult": chances,
            "logitsIdx": np.full((rows, count), -1, np.int64),
            "logitsSortMasked": np.full((rows, count), 7, FLOAT),
        },
    )


def kept(row: list[float], k: int, p: float, least: float | None, most: int, is_logits: bool) -> tuple[list[int], list[float]]:
    """Tokens in order with their chances."""
    count = len(row)
    by_k = 1 <= k <= min(count, most)
    order = sorted(range(count), key=lambda i: -row[i]) if by_k or p < 1 else list(range(count))
    order = order[:k] if by_k else order
    chances = softmax([row[i] for i in order]) if is_logits else [row[i] for i in order]
    if p < 1:
        few = max(1, sum(math.fsum(chances[:end]) <= p for end in range(len(order))))
        order, chances = order[:few], chances[:few]
    if least is not None and least > 0:
        top = max(chances)
        fits = [i for i, chance in enumerate(chances) if chance >= top * least] if least < 1 else [chances.index(top)]
        order, chances = [order[i] if i in fits else -1 for i in range(len(order))], chances
    return order, chances


@given(st.data())
def test_drawing(device: int, data: st.DataObject) -> None:
    first = data.draw(st.booleans())
    dtype = data.draw(st.sampled_from((FLOAT16, BF16) if first else FLOATS))
    logits = numbers((ROWS, COUNT), dtype, data.draw(st.integers(0, 99)), 2)
    k = np.array([1, 4, 0, 12, 2000], np.int32)
    p = np.array([0.3, 0.71, 0.9, 1.0, 1.0]).astype(dtype)
    q = np.abs(numbers((ROWS, COUNT), FLOAT, 7)) + np.float32(0.1) if data.draw(st.booleans()) else None
    least = None if first or data.draw(st.booleans()) else np.array([0.2, 0.0, 0.4, 1.0, 0.5]).astype(dtype)
    case = sample(logits, k, p, q) if first else sample_v2(logits, k, p, q, least)
    tokens, left, *_ = case.results(data.draw(layouts))
    for b, row in enumerate(logits.astype(np.float64).tolist()):
        order, chances = kept(row, int(k[b]), float(p[b]), None if least is None else float(least[b]), 1024, True)
        quotients = [
            -1.0 if i < 0 else c / (1 if q is None else float(q[b, n]) + 1e-8) for n, (i, c) in enumerate(zip(order, chances, strict=True))
        ]
        assert tokens[b] == order[quotients.index(max(quotients))]
        assert_equal(left[b], [row[i] if i in order else -INF for i in range(COUNT)])


@given(st.data())
def test_chances(device: int, data: st.DataObject) -> None:
    is_logits, dtype = data.draw(st.booleans()), data.draw(st.sampled_from(FLOATS))
    logits = numbers((ROWS, COUNT), dtype, data.draw(st.integers(0, 99)), 2)
    if not is_logits:
        powers = np.exp(logits.astype(np.float64))
        logits = (powers / powers.sum(axis=1, keepdims=True)).astype(dtype)
    k = np.array([1, 4, 9, 12, 2000], np.int32)
    p = np.array([0.3, 0.71, 0.9, 1.0, 1.0]).astype(dtype)
    least = np.array([[0.2], [0.0], [0.4], [1.0], [0.5]]).astype(dtype) if data.draw(st.booleans()) else None
    most = data.draw(st.sampled_from((8, 1024)))
    case = sample_v2(logits, k, p, None, least, most=most, is_logits=is_logits, chances=True)
    tokens, _, places, chances = case.results(data.draw(layouts))
    assert tokens.tolist() == [-1] * ROWS
    for b, row in enumerate(logits.astype(np.float64).tolist()):
        order, values = kept(row, int(k[b]), float(p[b]), None if least is None else float(least[b, 0]), most, is_logits)
        rest = [0.0] * (COUNT - len(order))
        assert places[b].tolist() == [max(i, 0) for i in order] + [0] * len(rest)
        assert_accurate(chances[b], [0.0 if i < 0 else value for i, value in zip(order, values, strict=True)] + rest)


L, K, P = Meta((3, 8), FLOAT16), Meta((3,), np.int32), Meta((3,), FLOAT16)
GOOD = {
    "apply": apply(L, P, K, L),
    "sample": sample(L, K, P, Meta((3, 8), FLOAT), tokens=Meta((3,), np.int64), left=Meta((3, 8), FLOAT)),
    "sample_v2": Case(
        "aclnnTopKTopPSampleV2",
        {
            **sample(L, K, P, Meta((3, 8), FLOAT), tokens=Meta((3,), np.int64), left=Meta((3, 8), FLOAT)).arguments,
            "minPs": P,
            "ksMax": 8,
            "inputIsLogits": True,
            "isNeedSampleResult": False,
            "logitsIdx": Meta((3, 8), np.int64),
            "logitsSortMasked": Meta((3, 8), FLOAT),
        },
    ),
}
BAD = ACLNN_ERR_PARAM_INVALID
BOTH: list[tuple[dict[str, Any], int]] = [
    ({"logits": None}, ACLNN_ERR_PARAM_NULLPTR),
    ({"topK": None}, ACLNN_ERR_PARAM_NULLPTR),
    ({"topP": None}, ACLNN_ERR_PARAM_NULLPTR),
    ({"q": None}, 0),
    ({"q": Meta((3, 8), FLOAT16)}, BAD),
    ({"q": Meta((3, 7), FLOAT)}, BAD),
    ({"topK": Meta((3,), np.int64)}, BAD),
    ({"topK": Meta((4,), np.int32)}, BAD),
    ({"topP": Meta((2,), FLOAT16)}, BAD),
    ({"topP": Meta((3,), BF16)}, BAD),
    ({"logits": Meta((3, 8), np.float64)}, BAD),
    ({"logits": Meta((3, 0), FLOAT16), "q": Meta((3, 0), FLOAT)}, BAD),
    ({"logitsSelectIdx": Meta((4,), np.int64)}, BAD),
    ({"logitsTopKPSelect": Meta((3, 7), FLOAT)}, BAD),
    ({"logitsTopKPSelect": Meta((3, 7), FLOAT), "isNeedLogits": False}, 0),
]
WRONG: list[tuple[str, dict[str, Any], int]] = [
    *[(name, *one) for name in ("sample", "sample_v2") for one in BOTH],
    ("sample_v2", {"minPs": None}, 0),
    ("sample_v2", {"minPs": Meta((4,), FLOAT16)}, BAD),
    ("sample_v2", {"minPs": Meta((3,), FLOAT)}, BAD),
    ("sample_v2", {"isNeedSampleResult": True, "logitsIdx": Meta((3, 7), np.int64)}, BAD),
    ("apply", {"p": None}, 0),
    ("apply", {"k": None}, 0),
    ("apply", {"p": None, "k": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("apply", {"p": Meta((3,), FLOAT)}, BAD),
    ("apply", {"p": Meta((2,), FLOAT16)}, BAD),
    ("apply", {"k": Meta((2,), np.int32)}, BAD),
    ("apply", {"k": Meta((3,), np.int64)}, BAD),
    ("apply", {"out": Meta((3, 7), FLOAT16)}, BAD),
    ("apply", {"out": Meta((3, 8), FLOAT)}, BAD),
]


@pytest.mark.parametrize(("name", "changes", "status"), WRONG, ids=[f"{one[0]}-{'-'.join(one[1])}" for one in WRONG])
def test_errors(name: str, changes: dict[str, Any], status: int) -> None:
    assert GOOD[name].status() == 0
    assert GOOD[name].but(**changes).status() == status
    assert not status or message()


@pytest.mark.parametrize(("name", "products"), [("apply", "950 A3 A2"), ("sample", "A3 A2"), ("sample_v2", "950 A3 A2")])
def test_products(name: str, products: str, chip: Callable[[str], None]) -> None:
    assert products_of(GOOD[name], chip) == set(products.split())
