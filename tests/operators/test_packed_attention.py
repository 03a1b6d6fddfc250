"""Attention for training beyond the first two operators: position encodings of four kinds, sequences behind each other, more features."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import aclnnop
from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOATS
from tests.operators.attending import Attention, assert_close, attention, gradients, visible
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.products import products_of

FORWARD = ("ScoreV2", "VarLenScore", "VarLenScoreV2", "VarLenScoreV3", "VarLenScoreV4")
BACKWARD = {
    "ScoreV2": "ScoreGradV2",
    "VarLenScore": "UnpaddingScoreGrad",
    "VarLenScoreV2": "UnpaddingScoreGradV2",
    "VarLenScoreV3": "UnpaddingScoreGradV3",
    "VarLenScoreV4": "UnpaddingScoreGradV4",
}
ALL = [f"aclnnFlashAttention{name}" for name in (*FORWARD, *BACKWARD.values())]
TRIANGLE = np.triu(np.ones((2048, 2048), np.uint8), 1)
WITH_PREFIX = np.concatenate([TRIANGLE, np.tile(np.arange(2048) >= 1024, (1024, 1)).astype(np.uint8)])
ENDS, KEY_ENDS = [7, 7, 19, 24], [9, 12, 30, 37]
HEADS, KEY_HEADS, WIDTH = 4, 2, 16
LOWEST = np.finfo(np.float32).min


def forward(name: str, dtype: Any, ends: list[int] = ENDS, key_ends: list[int] = KEY_ENDS, *, rows: int = 0, **changes: Any) -> Case:
    """A call of an operator for sequences behind each other; ``rows`` are queries, by default as many as the sequences have."""
    count, keys = rows or max(ends), max(key_ends)
    statistic = np.zeros((count, HEADS, 8), np.float32)
    optional = dict.fromkeys(("realShiftOptional", "dropMaskOptional", "paddingMaskOptional", "attenMaskOptional", "prefixOptional"))
    call: dict[str, Any] = {
        "query": numbers((count, HEADS, WIDTH), dtype, 1),
        "key": numbers((keys, KEY_HEADS, WIDTH), dtype, 2),
        "value": numbers((keys, KEY_HEADS, WIDTH), dtype, 3),
        **optional,
        "actualSeqQLenOptional": ends,
        "actualSeqKvLenOptional": key_ends,
        "qStartIdxOptional": None,
        "kvStartIdxOptional": None,
        "queryRope": None,
        "keyRope": None,
        "pseType": 1,
        "softmaxOutLayout": "",
        "scaleValue": 0.25,
        "keepProb": 1.0,
        "preTokens": 1 << 31,
        "nextTokens": 1 << 31,
        "headNum": HEADS,
        "inputLayout": "TND",
        "innerPrecise": 0,
        "sparseMode": 0,
        "softmaxMaxOut": statistic,
        "softmaxSumOut": statistic.copy(),
        "softmaxOutOut": None,
        "attentionOutOut": numbers((count, HEADS, WIDTH), dtype, 4),
        **changes,
    }
    return named(f"aclnnFlashAttention{name}", call)


def named(name: str, arguments: dict[str, Any]) -> Case:
    """A call with the parameters that the operator has."""
    return Case(name, {parameter: arguments[parameter] for parameter, _ in aclnnop.find(name).parameters})


def sequences(ends: list[int], key_ends: list[int]) -> list[tuple[slice, slice]]:
    """Where queries and keys of each are."""
    return [(slice(*rows), slice(*columns)) for rows, columns in zip(pairwise([0, *ends]), pairwise([0, *key_ends]), strict=True)]


def by_head(array: Array, part: slice) -> Array:
    return array[part].astype(np.float64).swapaxes(0, 1)[None]


def golden(call: Case, number: int, seen: Any = True, added: Any = 0.0, first: bool = True, kept: Any = 1.0) -> Attention:
    """One sequence."""
    given = call.arguments
    ends, key_ends = given["actualSeqQLenOptional"], given["actualSeqKvLenOptional"]
    rows, columns = sequences(ends, key_ends)[number]
    query, key, value = by_head(given["query"], rows), *(by_head(given[name], columns) for name in ("key", "value"))
    if given.get("queryRope") is not None:
        query = np.concatenate([query, by_head(given["queryRope"], rows)], axis=3)
        key = np.concatenate([key, by_head(given["keyRope"], columns)], axis=3)
    return attention(query, key, value, given["scaleValue"], seen, added, first, kept)


def assert_right(call: Case, expected: list[Attention], *, order: str = "NS", strides: int = 0) -> None:
    """The output of every sequence, and maximum and sum in their order."""
    largest, total, out = call.results(strides)
    count = out.shape[0]
    stored = [array[..., 0].reshape(HEADS, count).T if order == "NS" else array[..., 0] for array in (largest, total)]
    for (rows, _), exact in zip(
        sequences(call.arguments["actualSeqQLenOptional"], call.arguments["actualSeqKvLenOptional"]), expected, strict=True
    ):
        empty = exact.total[0].T == 0
        assert_close(out[rows], exact.out[0].swapaxes(0, 1), exact.terms[0].swapaxes(0, 1))
        assert_close(stored[0][rows], np.where(empty, LOWEST, exact.largest[0].T), np.where(empty, LOWEST, 4 + np.abs(exact.largest[0].T)))
        assert_close(stored[1][rows], exact.total[0].T, exact.total[0].T)


def backward(call: Case, expected: list[Attention], order: str = "NS") -> Case:
    """The call of the backward pass after a forward pass."""
    given = call.arguments
    shape = given["attentionOutOut"].shape
    statistics = []
    for field in ("largest", "total"):
        by_row = np.concatenate([getattr(exact, field)[0].T for exact in expected])
        stored = (by_row.T if order == "NS" else by_row).reshape(shape[:2])
        statistics.append(np.repeat(stored[..., None], 8, axis=2).astype(np.float32))
    output = np.concatenate([exact.out[0].swapaxes(0, 1) for exact in expected]).astype(given["query"].dtype)
    renamed = {"key": "keyIn", "keyRope": "keyInRope", "realShiftOptional": "pseShiftOptional", "softmaxOutLayout": "softmaxInLayout"}
    ropes = {
        name: np.zeros_like(given[source])
        for name, source in (("dqRopeOut", "queryRope"), ("dkRopeOut", "keyRope"))
        if given.get(source) is not None
    }
    arguments = {
        **{renamed.get(name, name): value for name, value in given.items()},
        "dy": numbers(shape, given["query"].dtype, 5),
        "softmaxMaxOptional": statistics[0],
        "softmaxSumOptional": statistics[1],
        "softmaxInOptional": None,
        "attentionInOptional": output,
        **{
            name: numbers(given[source].shape, given[source].dtype, 6)
            for name, source in (("dqOut", "query"), ("dkOut", "key"), ("dvOut", "value"))
        },
        "dpseOut": None,
        "dqRopeOut": None,
        "dkRopeOut": None,
        **ropes,
    }
    short = call.operator.removeprefix("aclnnFlashAttention")
    return named(f"aclnnFlashAttention{BACKWARD[short]}", arguments)


def assert_gradients_right(call: Case, expected: list[Attention], kept: Any = None, order: str = "NS") -> None:
    back = backward(call, expected, order)
    given = back.arguments
    results = dict(
        zip(
            [name for name in given if name.startswith("d") and name.endswith("Out") and given[name] is not None],
            back.results(),
            strict=True,
        )
    )
    parts = sequences(given["actualSeqQLenOptional"], given["actualSeqKvLenOptional"])
    for number, ((rows, columns), exact) in enumerate(zip(parts, expected, strict=True)):
        query, key, value = by_head(given["query"], rows), *(by_head(given[name], columns) for name in ("keyIn", "value"))
        if given.get("queryRope") is not None:
            query = np.concatenate([query, by_head(given["queryRope"], rows)], axis=3)
            key = np.concatenate([key, by_head(given["keyInRope"], columns)], axis=3)
        slope, output = (by_head(given[name], rows) for name in ("dy", "attentionInOptional"))
        found = gradients(query, key, value, slope, exact._replace(out=output), given["scaleValue"], 1.0 if kept is None else kept[number])
        for (exactly, terms), name, part in zip(found, ("dqOut", "dkOut", "dvOut"), (rows, columns, columns), strict=True):
            plain, sizes = (array[0].swapaxes(0, 1) for array in (exactly, terms))
            assert_close(results[name][part], plain[..., :WIDTH], sizes[..., :WIDTH])
            rope = name.replace("Out", "RopeOut")
            if rope in results:
                assert_close(results[rope][part], plain[..., WIDTH:], sizes[..., WIDTH:])


@pytest.mark.parametrize("name", ["VarLenScore", "VarLenScoreV2", "VarLenScoreV4"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_values(name: str, dtype: Any, device: int) -> None:
    call = forward(name, dtype)
    expected = [golden(call, number) for number in range(4)]
    for strides in (0, 3):
        assert_right(call, expected, strides=strides)
    assert_gradients_right(call, expected)


def test_maximum_and_sum_in_the_order_of_the_input(device: int) -> None:
    call = forward("VarLenScoreV4", FLOAT, softmaxOutLayout="same_as_input")
    expected = [golden(call, number) for number in range(4)]
    assert_right(call, expected, order="SN")
    assert_gradients_right(call, expected, order="SN")


@pytest.mark.parametrize("name", FORWARD[1:])
def test_maximum_and_sum_with_heads_first(name: str, device: int) -> None:
    """Some pages give that shape."""
    rows = np.zeros((HEADS, 24, 8), np.float32)
    call = forward(name, BF16, softmaxMaxOut=rows, softmaxSumOut=rows.copy(), attenMaskOptional=TRIANGLE, sparseMode=2)
    assert_right(call, [golden(call, number, visible(2, *lengths)) for number, lengths in enumerate([(7, 9), (0, 3), (12, 18), (5, 7)])])


def lengths_of(ends: list[int], key_ends: list[int]) -> list[tuple[int, int]]:
    return [(rows.stop - rows.start, columns.stop - columns.start) for rows, columns in sequences(ends, key_ends)]


@pytest.mark.parametrize("mode", [0, 1, 2, 3, 4, 6, 7, 8])
def test_sparse_modes(mode: int, device: int) -> None:
    """In mode 7 the last sequence has a band, in mode 8 the first one that is not empty."""
    tokens = {"preTokens": 20, "nextTokens": -1 if mode == 7 else 3}
    modes = {7: [3, 3, 3, 4], 8: [4, 2, 2, 2]}.get(mode, [mode] * 4)
    prefix = [5, 3, 7, 6]
    lengths = lengths_of(ENDS, KEY_ENDS)
    seen = [
        visible(each, rows, columns, 20, tokens["nextTokens"], length)
        for each, (rows, columns), length in zip(modes, lengths, prefix, strict=True)
    ]
    mask = np.random.default_rng(1).random((12, 18)) < 0.3 if mode in (0, 1) else WITH_PREFIX if mode == 6 else TRIANGLE
    if mode in (0, 1):
        seen = [part & ~mask[: part.shape[0], : part.shape[1]] for part in seen]
    call = forward("VarLenScore", FLOAT, attenMaskOptional=mask, sparseMode=mode, prefixOptional=prefix, **tokens)
    expected = [golden(call, number, part) for number, part in enumerate(seen)]
    assert_right(call, expected)
    finite = [exact._replace(largest=np.where(exact.total == 0, LOWEST, exact.largest)) for exact in expected]
    assert_gradients_right(call, finite)


@pytest.mark.parametrize("kind", [0, 1])
def test_position_encodings(kind: int, device: int) -> None:
    """Those of all sequences, one behind the other."""
    lengths = lengths_of(ENDS, KEY_ENDS)
    parts = [numbers((HEADS, rows, columns), FLOAT, 7 + rows) for rows, columns in lengths]
    call = forward("VarLenScoreV2", FLOAT, realShiftOptional=np.concatenate([part.ravel() for part in parts]), pseType=kind)
    expected = [golden(call, number, added=part.astype(np.float64), first=kind == 1) for number, part in enumerate(parts)]
    assert_right(call, expected)
    assert_gradients_right(call, expected)


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("shape", [(3, 4), (4,)], ids=str)
def test_slopes(kind: int, shape: tuple[int, ...], device: int) -> None:
    """A position encoding that is made of the distance of query and key."""
    ends = [5, 8, 20]
    slopes = np.random.default_rng(2).uniform(0.1, 0.5, shape).astype(np.float32)
    starts = {"qStartIdxOptional": [4], "kvStartIdxOptional": [1]}
    call = forward("VarLenScoreV2", BF16, ends, ends, realShiftOptional=slopes, pseType=kind, **starts)
    expected = []
    for number, (rows, columns) in enumerate(lengths_of(ends, ends)):
        query, key = np.mgrid[:rows, :columns]
        distance = np.abs(query + 3 - key).astype(np.float64)
        own = slopes[number] if slopes.ndim == 2 else slopes
        added = -own.astype(np.float64)[:, None, None] * (np.sqrt(distance) if kind == 3 else distance)
        expected.append(golden(call, number, added=added, first=False))
    assert_right(call, expected)
    assert_gradients_right(call, expected)


@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_kinds_of_position_encodings_in_a_batch(kind: int, device: int) -> None:
    """aclnnFlashAttentionScoreV2 and its gradient, with one sequence."""
    shape = (1, HEADS, 9, WIDTH)
    shift = numbers((1, HEADS, 9, 9), FLOAT, 6) if kind < 2 else np.array([0.5, 0.1, 0.2, 0.3], np.float32)
    statistic = np.zeros((1, HEADS, 9, 8), np.float32)
    arrays = {"query": numbers(shape, FLOAT, 1), "key": numbers((1, 2, 9, WIDTH), FLOAT, 2), "value": numbers((1, 2, 9, WIDTH), FLOAT, 3)}
    call = forward(
        "ScoreV2", FLOAT, realShiftOptional=shift, pseType=kind, inputLayout="BNSD", attentionOutOut=np.zeros(shape, np.float32), **arrays
    )
    call = call.but(softmaxMaxOut=statistic, softmaxSumOut=statistic.copy())
    query, key = np.mgrid[:9, :9]
    distance = np.abs(query - key).astype(np.float64)
    added = (
        shift.astype(np.float64) if kind < 2 else -shift.astype(np.float64)[:, None, None] * (np.sqrt(distance) if kind == 3 else distance)
    )
    exact = attention(*(array.astype(np.float64) for array in arrays.values()), 0.25, True, added, kind == 1)
    largest, total, out = call.results()
    assert_close(out, exact.out, exact.terms)
    assert_close(largest[..., 0], exact.largest, np.maximum(np.abs(exact.largest), 4))
    assert_close(total[..., 0], exact.total, exact.total)
    slope = numbers(shape, FLOAT, 5)
    names = {"key": "keyIn", "realShiftOptional": "pseShiftOptional"}
    back = named(
        "aclnnFlashAttentionScoreGradV2",
        {
            **{names.get(name, name): value for name, value in call.arguments.items()},
            "dy": slope,
            "softmaxMaxOptional": largest,
            "softmaxSumOptional": total,
            "softmaxInOptional": None,
            "attentionInOptional": out,
            **{name: np.zeros_like(arrays[source]) for name, source in (("dqOut", "query"), ("dkOut", "key"), ("dvOut", "value"))},
            "dpseOut": None,
        },
    )
    wanted = gradients(*(array.astype(np.float64) for array in arrays.values()), slope.astype(np.float64), exact, 0.25)
    for found, (exactly, terms) in zip(back.results(), wanted, strict=True):
        assert_close(found, exactly, terms)


def test_dropping(device: int) -> None:
    """The bits of all sequences follow each other."""
    kept = [np.random.default_rng(rows).random((HEADS, rows, columns)) < 0.7 for rows, columns in lengths_of(ENDS, KEY_ENDS)]
    bits = np.packbits(np.concatenate([part.ravel() for part in kept]), bitorder="little")
    call = forward("VarLenScore", FLOAT, dropMaskOptional=bits, keepProb=0.7)
    factors = [part / 0.7 for part in kept]
    expected = [golden(call, number, kept=factor) for number, factor in enumerate(factors)]
    assert_right(call, expected)
    assert_gradients_right(call, expected, factors)


def test_more_features(device: int) -> None:
    ropes = {"queryRope": numbers((24, HEADS, 8), BF16, 8), "keyRope": numbers((37, KEY_HEADS, 8), BF16, 9)}
    call = forward("VarLenScoreV3", BF16, attenMaskOptional=TRIANGLE, sparseMode=3, **ropes)
    expected = [golden(call, number, visible(3, *lengths)) for number, lengths in enumerate(lengths_of(ENDS, KEY_ENDS))]
    assert_right(call, expected)
    assert_gradients_right(call, expected)


def test_without_more_features(device: int) -> None:
    call = forward("VarLenScoreV3", BF16, attenMaskOptional=TRIANGLE, sparseMode=3)
    expected = [golden(call, number, visible(3, *lengths)) for number, lengths in enumerate(lengths_of(ENDS, KEY_ENDS))]
    assert_right(call, expected)
    assert_gradients_right(call, expected)


def test_sequences_that_take_no_part(device: int) -> None:
    """Zeros behind the ends; what no sequence reaches is 0."""
    call = forward("VarLenScore", FLOAT, [7, 7, 19, 0, 0], [9, 12, 30, 0, 0], rows=24)
    _largest, _total, out = call.results()
    expected = [golden(call.but(actualSeqQLenOptional=ENDS[:3], actualSeqKvLenOptional=KEY_ENDS[:3]), number) for number in range(3)]
    for (rows, _), exact in zip(sequences(ENDS[:3], KEY_ENDS[:3]), expected, strict=True):
        assert_close(out[rows], exact.out[0].swapaxes(0, 1), exact.terms[0].swapaxes(0, 1))
    assert not out[19:].any()


INVALID, REFUSED = ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_NULLPTR
MASK = Meta((2048, 2048), np.uint8)
ERRORS: list[tuple[str, str, dict[str, Any], int]] = [
    ("VarLenScore", "query null", {"query": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("VarLenScore", "a layout with a batch", {"inputLayout": "BSH"}, INVALID),
    ("VarLenScore", "no ends of queries", {"actualSeqQLenOptional": None}, REFUSED),
    ("VarLenScore", "no ends of keys", {"actualSeqKvLenOptional": None}, REFUSED),
    ("VarLenScore", "ends that fall", {"actualSeqQLenOptional": [9, 7, 19, 24]}, REFUSED),
    ("VarLenScore", "an end outside", {"actualSeqQLenOptional": [7, 7, 19, 25]}, REFUSED),
    ("VarLenScore", "fewer ends", {"actualSeqQLenOptional": [7, 19, 24]}, REFUSED),
    ("VarLenScore", "sparseMode 5", {"sparseMode": 5}, REFUSED),
    ("VarLenScore", "sparseMode 9", {"sparseMode": 9}, REFUSED),
    ("VarLenScore", "shape of the maximum", {"softmaxMaxOut": Meta((24, HEADS, 1), np.float32)}, INVALID),
    ("VarLenScore", "a short mask", {"attenMaskOptional": Meta((11, 18), np.uint8)}, REFUSED),
    ("VarLenScore", "too few scores", {"realShiftOptional": Meta((10,), np.float32)}, REFUSED),
    ("VarLenScore", "shape of a position encoding", {"realShiftOptional": Meta((1, HEADS, 12, 18), np.float32)}, REFUSED),
    (
        "VarLenScore",
        "a position encoding in mode 7",
        {"realShiftOptional": Meta((1332,), np.float32), "attenMaskOptional": MASK, "sparseMode": 7},
        REFUSED,
    ),
    ("VarLenScore", "too few bits", {"dropMaskOptional": Meta((10,), np.uint8), "keepProb": 0.5}, REFUSED),
    (
        "VarLenScore",
        "too few prefixes",
        {"attenMaskOptional": Meta((3072, 2048), np.uint8), "sparseMode": 6, "prefixOptional": [5]},
        REFUSED,
    ),
    ("VarLenScoreV2", "pseType 4", {"pseType": 4}, REFUSED),
    ("VarLenScoreV2", "slopes that are null", {"pseType": 2}, REFUSED),
    ("VarLenScoreV2", "slopes for other lengths", {"pseType": 2, "realShiftOptional": Meta((HEADS,), np.float32)}, REFUSED),
    ("VarLenScoreV2", "type of slopes", {"pseType": 3, "realShiftOptional": Meta((HEADS,), np.float16)}, REFUSED),
    ("VarLenScoreV3", "FLOAT16", {"query": Meta((24, HEADS, WIDTH), np.float16)}, INVALID),
    ("VarLenScoreV3", "no mask", {"attenMaskOptional": None}, REFUSED),
    ("VarLenScoreV3", "pseType 0", {"pseType": 0}, REFUSED),
    ("VarLenScoreV3", "a position encoding", {"realShiftOptional": Meta((1332,), BF16)}, REFUSED),
    ("VarLenScoreV3", "dropping", {"dropMaskOptional": Meta((999,), np.uint8), "keepProb": 0.5}, REFUSED),
    ("VarLenScoreV3", "one rope", {"queryRope": Meta((24, HEADS, 8), BF16)}, REFUSED),
    ("VarLenScoreV3", "features of a rope", {"queryRope": Meta((24, HEADS, 7), BF16), "keyRope": Meta((37, KEY_HEADS, 7), BF16)}, REFUSED),
    ("VarLenScoreV3", "ropes that differ", {"queryRope": Meta((24, HEADS, 8), BF16), "keyRope": Meta((37, KEY_HEADS, 16), BF16)}, INVALID),
    ("VarLenScoreV3", "a wide rope", {"queryRope": Meta((24, HEADS, 24), BF16), "keyRope": Meta((37, KEY_HEADS, 24), BF16)}, INVALID),
    ("VarLenScoreV3", "length of a rope", {"queryRope": Meta((23, HEADS, 8), BF16), "keyRope": Meta((37, KEY_HEADS, 8), BF16)}, INVALID),
    ("VarLenScoreV4", "another order", {"softmaxOutLayout": "TND"}, INVALID),
]


FORWARD_ONLY = {"FLOAT16", "shape of the maximum", "length of a rope"}


def valid(name: str) -> Case:
    """A call that works, of either direction."""
    forwards = next(key for key, value in BACKWARD.items() if name.endswith((f"Attention{key}", f"Attention{value}")))
    if forwards == "ScoreV2":
        return Case(name, next(aclnnop.find(name).examples()))
    v3 = forwards == "VarLenScoreV3"
    call = forward(forwards, BF16 if v3 else FLOAT, attenMaskOptional=TRIANGLE if v3 else None, sparseMode=2 if v3 else 0)
    return call if name == call.operator else backward(call, [golden(call, number) for number in range(4)])


@pytest.mark.parametrize("error", ERRORS, ids=[f"{error[0]} {error[1]}" for error in ERRORS])
def test_errors(error: tuple[str, str, dict[str, Any], int]) -> None:
    """The gradient refuses the same."""
    name, _, changes, status = error
    assert valid(f"aclnnFlashAttention{name}").but(**changes).status() == status, message()
    renamed = {"key": "keyIn", "keyRope": "keyInRope", "realShiftOptional": "pseShiftOptional", "softmaxOutLayout": "softmaxInLayout"}
    back = {renamed.get(key, key): value for key, value in changes.items()}
    if error[1] not in FORWARD_ONLY:
        assert valid(f"aclnnFlashAttention{BACKWARD[name]}").but(**back).status() == status, message()


def test_gradients_of_ropes_need_a_place() -> None:
    ropes = {"queryRope": numbers((24, HEADS, 8), BF16, 8), "keyRope": numbers((37, KEY_HEADS, 8), BF16, 9)}
    call = forward("VarLenScoreV3", BF16, attenMaskOptional=TRIANGLE, sparseMode=2, **ropes)
    back = backward(call, [golden(call, number) for number in range(4)])
    assert back.status() == 0, message()
    assert back.but(dqRopeOut=None).status() == REFUSED
    assert back.but(dkRopeOut=Meta((37, KEY_HEADS, 16), BF16)).status() == REFUSED


@pytest.mark.parametrize("name", ALL)
def test_products(name: str, chip: Any) -> None:
    call = valid(name)
    if "V3" not in name:
        call = call.but(
            **{
                key: value.astype(np.float16)
                for key, value in call.arguments.items()
                if getattr(value, "dtype", None) == np.float32 and "softmax" not in key
            }
        )
    if "V3" in name:  # BF16 only, which older chips refuse
        for soc, accepted in (("Ascend910B1", True), ("Ascend950PR_9589", True), ("Ascend910_9391", True), ("Ascend310P3", False)):
            chip(soc)
            assert (call.status() == 0) is accepted, soc
    else:
        assert products_of(call, chip) == {"950", "A3", "A2"}
