"""aclnnFlashAttentionScore and aclnnFlashAttentionScoreGrad."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawing
from hypothesis import settings
from hypothesis import strategies as st

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from aclnnop.attention.heads import Lengths, shape_in
from aclnnop.attention.training import LAST_ROWS, MASKS, SHIFTS
from tests.conftest import message
from tests.operators.accuracy import FLOAT, FLOAT16, FLOATS
from tests.operators.attending import Attention, assert_close, attention, from_heads, gradients, to_heads, visible
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.products import products_of

FORWARD, BACKWARD = "aclnnFlashAttentionScore", "aclnnFlashAttentionScoreGrad"
LAYOUTS = ("BSH", "SBH", "BSND", "BNSD")
LOWEST = np.finfo(np.float32).min
TRIANGLE = np.triu(np.ones((2048, 2048), np.uint8), 1)
WITH_PREFIX = np.concatenate([TRIANGLE, np.repeat(np.arange(2048) >= 1024, 1024).reshape(2048, 1024).T.astype(np.uint8)])


def forward(layout: str, dtype: Any, queries: Lengths, keys: Lengths, *, values: int | None = None, seed: int = 0, **changes: Any) -> Case:
    """A call with drawn numbers."""
    value, out = (each._replace(features=values or keys.features) for each in (keys, queries))
    rows = (*queries[:3], 8)
    call = {
        "query": numbers(shape_in(layout, queries), dtype, seed),
        "key": numbers(shape_in(layout, keys), dtype, seed + 1),
        "value": numbers(shape_in(layout, value), dtype, seed + 2),
        "realShiftOptional": None,
        "dropMaskOptional": None,
        "paddingMaskOptional": None,
        "attenMaskOptional": None,
        "prefixOptional": None,
        "scaleValue": queries.features**-0.5,
        "keepProb": 1.0,
        "preTokens": 1 << 31,
        "nextTokens": 1 << 31,
        "headNum": queries.heads,
        "inputLayout": layout,
        "innerPrecise": 0,
        "sparseMode": 0,
        "softmaxMaxOut": np.zeros(rows, np.float32),
        "softmaxSumOut": np.zeros(rows, np.float32),
        "softmaxOutOut": None,
        "attentionOutOut": np.zeros(shape_in(layout, out), dtype),
    }
    return Case(FORWARD, call).but(**changes)


def heads_of(call: Case) -> tuple[Array, Array, Array]:
    """Queries, keys and values by head."""
    given = call.arguments
    layout, count = given["inputLayout"], given["headNum"]
    query = to_heads(given["query"], layout, count)
    key_heads = given["key"].shape[-1] // query.shape[3] if "H" in layout else given["key"].shape[layout.index("N")]
    return query, *(to_heads(given[name], layout, key_heads) for name in ("key", "value"))


def golden(call: Case, seen: Any = True, added: Any = 0.0, kept: Any = 1.0) -> Attention:
    return attention(*heads_of(call), call.arguments["scaleValue"], seen, added, kept=kept)


def assert_right(call: Case, expected: Attention, layout: int = 0) -> None:
    """The output, and the maximum and the sum eight times over."""
    largest, total, out = call.results(layout)
    empty = expected.total == 0
    assert (largest == largest[..., :1]).all()
    assert (total == total[..., :1]).all()
    assert_close(
        largest[..., 0], np.where(empty, LOWEST, expected.largest), np.where(empty, LOWEST, np.maximum(np.abs(expected.largest), 4))
    )
    assert_close(total[..., 0], expected.total, expected.total)
    name = call.arguments["inputLayout"]
    assert_close(out, from_heads(expected.out, name), from_heads(expected.terms, name))


def backward(call: Case, expected: Attention, seed: int = 7) -> Case:
    """The call of the backward pass after a forward pass."""
    given = call.arguments
    layout, out = given["inputLayout"], given["attentionOutOut"]
    statistics = {
        name: np.repeat(values[..., None], 8, axis=3).astype(np.float32)
        for name, values in (("softmaxMaxOptional", expected.largest), ("softmaxSumOptional", expected.total))
    }
    renamed = {{"key": "keyIn", "realShiftOptional": "pseShiftOptional"}.get(name, name): value for name, value in given.items()}
    return Case(
        BACKWARD,
        {
            **{name: value for name, value in renamed.items() if not name.endswith("Out")},
            "dy": numbers(out.shape, out.dtype, seed),
            **statistics,
            "softmaxInOptional": None,
            "attentionInOptional": from_heads(expected.out, layout).astype(out.dtype),
            **{name: np.zeros_like(given[source]) for name, source in (("dqOut", "query"), ("dkOut", "key"), ("dvOut", "value"))},
            "dpseOut": None,
        },
    )


def assert_gradients_right(call: Case, expected: Attention, kept: Any = 1.0, layout: int = 0) -> None:
    """Against the formula; the output that is given back is one that was rounded."""
    back = backward(call, expected)
    name, count = call.arguments["inputLayout"], call.arguments["headNum"]
    slope, out = (to_heads(back.arguments[each], name, count) for each in ("dy", "attentionInOptional"))
    found = gradients(*heads_of(call), slope, expected._replace(out=out), call.arguments["scaleValue"], kept)
    for result, (exact, terms) in zip(back.results(layout), found, strict=True):
        assert_close(result, from_heads(exact, name), from_heads(terms, name))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, dtype: Any, device: int) -> None:
    """Groups of heads, other lengths of queries and keys, values with fewer features; strides of any kind."""
    call = forward(layout, dtype, Lengths(2, 6, 19, 24), Lengths(2, 2, 31, 24), values=16)
    expected = golden(call)
    for strides in (0, 5):
        assert_right(call, expected, strides)
        assert_gradients_right(call, expected, layout=strides)


@pytest.mark.parametrize("group", [1, 4], ids="group {}".format)
def test_many_blocks(group: int, device: int) -> None:
    """More queries and keys than a block has; the masks of blocks meet."""
    call = forward("BNSD", FLOAT, Lengths(1, 4, 300, 8), Lengths(1, 4 // group, 2100, 8), attenMaskOptional=TRIANGLE, sparseMode=3)
    expected = golden(call, visible(3, 300, 2100))
    assert_right(call, expected)
    assert_gradients_right(call, expected)


MODES: list[tuple[str, int, int, dict[str, Any]]] = [
    ("mode 0 causal", 20, 30, {"sparseMode": 0, "nextTokens": 0}),
    ("mode 0 band", 20, 30, {"sparseMode": 0, "preTokens": 4, "nextTokens": 3}),
    ("mode 0 negative nextTokens", 20, 30, {"sparseMode": 0, "preTokens": 9, "nextTokens": -3}),
    ("mode 0 negative preTokens", 20, 30, {"sparseMode": 0, "preTokens": -3, "nextTokens": 7}),
    ("mode 1", 20, 30, {"sparseMode": 1, "preTokens": 1, "nextTokens": 1}),
    ("mode 2 wide", 20, 30, {"sparseMode": 2, "preTokens": 1, "nextTokens": 1}),
    ("mode 2 tall", 30, 20, {"sparseMode": 2}),
    ("mode 3 wide", 20, 30, {"sparseMode": 3}),
    ("mode 3 tall", 30, 20, {"sparseMode": 3}),
    ("mode 4 wide", 20, 30, {"sparseMode": 4, "preTokens": 5, "nextTokens": 2}),
    ("mode 4 tall", 30, 20, {"sparseMode": 4, "preTokens": 5, "nextTokens": -2}),
    ("mode 5", 20, 30, {"sparseMode": 5, "prefixOptional": [12, 25]}),
    ("mode 5 tall", 30, 20, {"sparseMode": 5, "prefixOptional": [0, 20]}),
    ("mode 6", 20, 30, {"sparseMode": 6, "prefixOptional": [12, 25]}),
    ("mode 6 tall", 30, 20, {"sparseMode": 6, "prefixOptional": [3, 11]}),
]


@pytest.mark.parametrize("case", MODES, ids=[case[0] for case in MODES])
def test_sparse_modes(case: tuple[str, int, int, dict[str, Any]], device: int) -> None:
    _, rows, columns, changes = case
    mode, prefix = changes["sparseMode"], changes.get("prefixOptional", [0, 0])
    seen = np.stack(
        [visible(mode, rows, columns, changes.get("preTokens", 1 << 30), changes.get("nextTokens", 1 << 30), each) for each in prefix]
    )
    seen = seen[:, None]
    if mode in (1, 5):
        seen = seen & (np.random.default_rng(1).random(seen.shape) < 0.8)
    mask = {2: TRIANGLE, 3: TRIANGLE, 4: TRIANGLE, 6: WITH_PREFIX}.get(mode, (~seen).astype(np.uint8))
    call = forward("BNSD", FLOAT, Lengths(2, 4, rows, 8), Lengths(2, 2, columns, 8), attenMaskOptional=mask, **changes)
    expected = golden(call, seen)
    assert_right(call, expected)
    assert_gradients_right(call, expected)


@settings(max_examples=25)
@drawing(data=st.data())
def test_drawn_calls(data: st.DataObject, device: int) -> None:
    """Any lengths, groups, layouts, types and sparse modes."""
    layout, dtype = data.draw(st.sampled_from(LAYOUTS)), data.draw(st.sampled_from(FLOATS))
    batch, key_heads, group, rows, columns = (data.draw(st.integers(1, most)) for most in (3, 3, 3, 40, 40))
    width = data.draw(st.integers(1, 20))
    values = data.draw(st.integers(1, width))
    mode = data.draw(st.integers(0, 4))
    corner = columns - rows if mode == 4 else 0
    before, after = data.draw(st.integers(-min(rows, 9) + 1, 45)), data.draw(st.integers(-min(columns, 9) + 1, 45))
    if before + after < 0:
        before = -after
    before = max(before, corner - 40)
    seen = visible(mode, rows, columns, before, after)
    mask = TRIANGLE if mode > 1 else (~seen).astype(np.uint8)
    queries, keys = Lengths(batch, key_heads * group, rows, width), Lengths(batch, key_heads, columns, width)
    tokens = {"preTokens": before, "nextTokens": after, "sparseMode": mode, "attenMaskOptional": mask}
    call = forward(layout, dtype, queries, keys, values=values, seed=data.draw(st.integers(0, 99)), **tokens)
    expected = golden(call, seen)
    strides = data.draw(st.integers(0, 3))
    assert_right(call, expected, strides)
    finite = expected._replace(largest=np.where(expected.total == 0, LOWEST, expected.largest))
    assert_gradients_right(call, finite, layout=strides)


def test_a_compressed_mask_is_read(device: int) -> None:
    """One that hides nothing hides nothing near the diagonal; a device would do the same within a block."""
    call = forward("BNSD", FLOAT, Lengths(1, 1, 8, 8), Lengths(1, 1, 8, 8), attenMaskOptional=np.zeros_like(TRIANGLE), sparseMode=2)
    assert_right(call, golden(call, True))


def test_without_a_mask_all_keys_count(device: int) -> None:
    call = forward("BSH", FLOAT16, Lengths(1, 2, 9, 8), Lengths(1, 2, 12, 8), sparseMode=3, preTokens=1, nextTokens=1)
    assert_right(call, golden(call))


@pytest.mark.parametrize("names", MASKS, ids=str)
def test_masks(names: tuple[str, ...], device: int) -> None:
    sizes = {"B": 2, "N": 4, "Sq": 9, "Skv": 13, "1": 1}
    for dtype in (np.uint8, np.bool_):
        mask = (np.random.default_rng(3).random([sizes[name] for name in names]) < 0.4).astype(dtype)
        mask[..., 0] = 0
        call = forward("BSND", FLOAT, Lengths(2, 4, 9, 8), Lengths(2, 2, 13, 8), attenMaskOptional=mask)
        expected = golden(call, mask == 0)
        assert_right(call, expected, 2)
        assert_gradients_right(call, expected)


@pytest.mark.parametrize("names", SHIFTS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_position_encodings(names: tuple[str, ...], dtype: Any, device: int) -> None:
    """Added before the scores are scaled."""
    sizes = {"B": 2, "N": 4, "Sq": 9, "Skv": 13, "1": 1}
    shift = numbers(tuple(sizes[name] for name in names), dtype, 5)
    call = forward("SBH", dtype, Lengths(2, 4, 9, 8), Lengths(2, 2, 13, 8), realShiftOptional=shift)
    expected = golden(call, added=shift.astype(np.float64))
    assert_right(call, expected, 2)
    assert_gradients_right(call, expected)


@pytest.mark.parametrize("names", LAST_ROWS, ids=str)
def test_last_rows_of_a_position_encoding(names: tuple[str, ...], device: int) -> None:
    """The rest follows from the distance of query and key."""
    length = 1100
    query, key = np.mgrid[:length, :length]
    slopes = np.array([[0.5, 0.1], [0.2, 0.3]])[: 2 if names[0] == "B" else 1, :, None, None]
    shift = (slopes * (key - query)).astype(np.float32)
    lengths = Lengths(2, 2, length, 4)
    call = forward("BNSD", FLOAT, lengths, lengths, attenMaskOptional=TRIANGLE, sparseMode=2, realShiftOptional=shift[:, :, -1024:])
    assert_right(call, golden(call, visible(2, length, length), added=shift.astype(np.float64)))


@pytest.mark.parametrize("keep", [0.9, 0.5])
def test_dropping(keep: float, device: int) -> None:
    """A bit for each weight, the lowest first; maximum and sum are those of all weights."""
    shape = (2, 4, 9, 13)
    kept = np.random.default_rng(4).random(shape) < keep
    bits = np.concatenate([np.packbits(kept.ravel(), bitorder="little"), np.full(16, 255, np.uint8)])
    call = forward("BNSD", FLOAT, Lengths(2, 4, 9, 8), Lengths(2, 2, 13, 8), dropMaskOptional=bits, keepProb=keep)
    expected = golden(call, kept=kept / keep)
    assert_right(call, expected)
    assert_gradients_right(call, expected, kept=kept / keep)
    all_kept = call.but(keepProb=1.0)
    assert_right(all_kept, golden(all_kept))


def test_queries_that_see_nothing(device: int) -> None:
    mask = np.zeros((5, 7), np.uint8)
    mask[2] = 1
    call = forward("BSH", FLOAT16, Lengths(1, 2, 5, 8), Lengths(1, 2, 7, 8), attenMaskOptional=mask)
    expected = golden(call, mask == 0)
    assert_right(call, expected)
    assert (call.results()[2].reshape(5, 2, 8)[2] == 0).all()
    assert_gradients_right(call, expected._replace(largest=np.where(expected.total == 0, LOWEST, expected.largest)))


def test_empty_tensors_count_as_null(device: int) -> None:
    nothing = {
        "realShiftOptional": Meta((0,), np.float32),
        "dropMaskOptional": Meta((0,), np.uint8),
        "attenMaskOptional": Meta((0,), np.bool_),
    }
    assert valid().but(**nothing).status() == 0, message()


def test_no_keys(device: int) -> None:
    call = forward("BNSD", FLOAT, Lengths(1, 2, 5, 8), Lengths(1, 2, 0, 8))
    largest, total, out = call.results()
    assert (largest == LOWEST).all()
    assert not total.any()
    assert not out.any()


def test_large_scores(device: int) -> None:
    """Exponentials of which those of single blocks would overflow."""
    call = forward("BNSD", FLOAT, Lengths(1, 1, 4, 8), Lengths(1, 1, 9, 8), scaleValue=300.0)
    query, key, _ = heads_of(call)
    largest, total, out = call.results()
    exact = golden(call)
    size = np.abs(query) @ np.abs(key.swapaxes(2, 3)) * 300
    np.testing.assert_allclose(out, from_heads(exact.out, "BNSD"), atol=size.max() * 2.0**-20)
    np.testing.assert_allclose(largest[..., 0], exact.largest, rtol=1e-5)
    assert np.isfinite(total).all()


def test_nan_and_infinity(device: int) -> None:
    call = forward("BNSD", FLOAT, Lengths(1, 1, 3, 4), Lengths(1, 1, 5, 4))
    query = call.arguments["query"].copy()
    query[0, 0, 1, 2] = np.nan
    out = call.but(query=query).results()[2]
    assert np.isnan(out[0, 0, 1]).all()
    assert np.isfinite(out[0, 0, [0, 2]]).all()


def test_unused_outputs_stay_as_they_are(device: int) -> None:
    before = numbers((3,), np.float32, 9)
    call = forward("BNSD", FLOAT, Lengths(1, 1, 3, 4), Lengths(1, 1, 5, 4), softmaxOutOut=before)
    assert (call.results()[2] == before).all()


def valid(dtype: Any = FLOAT) -> Case:
    return forward("BNSD", dtype, Lengths(2, 4, 6, 8), Lengths(2, 2, 10, 8))


def valid_backward(dtype: Any = FLOAT) -> Case:
    call = valid(dtype)
    return backward(call, golden(call))


INVALID, REFUSED = ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_NULLPTR
ERRORS: list[tuple[str, dict[str, Any], int]] = [
    *((f"{name} null", {name: None}, ACLNN_ERR_PARAM_NULLPTR) for name in ("query", "key", "value", "inputLayout", "softmaxMaxOut")),
    *((f"{name} null", {name: None}, ACLNN_ERR_PARAM_NULLPTR) for name in ("softmaxSumOut", "attentionOutOut")),
    *((f"{name} of a wrong type", {name: Meta((2, 4, 6, 8), np.int32)}, INVALID) for name in ("query", "key", "value", "attentionOutOut")),
    *((f"{name} of a wrong type", {name: Meta((2, 4, 6, 8), np.float16)}, INVALID) for name in ("softmaxMaxOut", "softmaxSumOut")),
    *((f"{name} of a wrong type", {name: Meta((2, 4, 6, 10), np.float64)}, INVALID) for name in ("realShiftOptional", "attenMaskOptional")),
    ("dropMaskOptional of a wrong type", {"dropMaskOptional": Meta((60,), np.int8)}, INVALID),
    *(
        (f"{name} in blocks", {name: Meta((2, 4, 6, 8), np.float32, format=ACL_FORMAT_FRACTAL_NZ)}, INVALID)
        for name in ("query", "key", "value", "attentionOutOut")
    ),
    ("types of query and key differ", {"key": Meta((2, 2, 10, 8), np.float16)}, INVALID),
    ("type of the position encoding", {"realShiftOptional": Meta((2, 4, 6, 10), np.float16)}, INVALID),
    ("a layout of another operator", {"inputLayout": "TND"}, INVALID),
    ("rank", {"query": Meta((2, 4, 48), np.float32)}, INVALID),
    ("headNum 0", {"headNum": 0}, INVALID),
    ("headNum of another query", {"headNum": 2}, INVALID),
    ("features of key", {"key": Meta((2, 2, 10, 16), np.float32)}, INVALID),
    ("more features of value", {"value": Meta((2, 2, 10, 16), np.float32)}, INVALID),
    ("no features of value", {"value": Meta((2, 2, 10, 0), np.float32)}, INVALID),
    ("batch", {"key": Meta((1, 2, 10, 8), np.float32), "value": Meta((1, 2, 10, 8), np.float32)}, INVALID),
    ("lengths of key and value", {"value": Meta((2, 2, 11, 8), np.float32)}, INVALID),
    ("heads of key", {"key": Meta((2, 3, 10, 8), np.float32), "value": Meta((2, 3, 10, 8), np.float32)}, INVALID),
    ("shape of the output", {"attentionOutOut": Meta((2, 4, 6, 9), np.float32)}, INVALID),
    ("shape of the maximum", {"softmaxMaxOut": Meta((2, 4, 6, 1), np.float32)}, INVALID),
    ("sparseMode 7", {"sparseMode": 7}, REFUSED),
    ("sparseMode -1", {"sparseMode": -1}, REFUSED),
    ("keepProb 0", {"keepProb": 0.0}, REFUSED),
    ("keepProb above 1", {"keepProb": 1.5}, REFUSED),
    ("keepProb NaN", {"keepProb": float("nan")}, REFUSED),
    ("nothing to drop by", {"keepProb": 0.5}, REFUSED),
    ("too few bits", {"keepProb": 0.5, "dropMaskOptional": Meta((59,), np.uint8)}, REFUSED),
    ("a mask that broadcasts otherwise", {"attenMaskOptional": Meta((2, 1, 1, 10), np.bool_)}, REFUSED),
    *(
        (f"a small mask in mode {mode}", {"attenMaskOptional": Meta((6, 10), np.bool_), "sparseMode": mode}, REFUSED)
        for mode in (2, 3, 4, 6)
    ),
    (
        "a mask for all batches in mode 5",
        {"attenMaskOptional": Meta((6, 10), np.bool_), "sparseMode": 5, "prefixOptional": [9, 9]},
        REFUSED,
    ),
    ("no prefix", {"attenMaskOptional": Meta((3072, 2048), np.bool_), "sparseMode": 6}, REFUSED),
    ("prefix too short", {"attenMaskOptional": Meta((3072, 2048), np.bool_), "sparseMode": 6, "prefixOptional": [3, 9]}, REFUSED),
    ("prefix too long", {"attenMaskOptional": Meta((3072, 2048), np.bool_), "sparseMode": 6, "prefixOptional": [9, 11]}, REFUSED),
    *(
        (
            f"an empty band in mode {mode}",
            {"attenMaskOptional": Meta(shape, np.bool_), "sparseMode": mode, "preTokens": 2, "nextTokens": -3},
            REFUSED,
        )
        for mode, shape in ((0, (6, 10)), (4, (2048, 2048)))
    ),
    ("nextTokens beyond the keys", {"attenMaskOptional": Meta((6, 10), np.bool_), "nextTokens": -10}, REFUSED),
    ("preTokens beyond the queries", {"attenMaskOptional": Meta((6, 10), np.bool_), "preTokens": -6}, REFUSED),
    ("shape of the position encoding", {"realShiftOptional": Meta((1, 4, 1, 10), np.float32)}, REFUSED),
    ("last rows of a short position encoding", {"realShiftOptional": Meta((1, 4, 1024, 10), np.float32)}, REFUSED),
]
BACKWARD_NAMES = {"key": "keyIn", "realShiftOptional": "pseShiftOptional"}
BACKWARD_ERRORS: list[tuple[str, dict[str, Any], int]] = [
    *(
        (name, {BACKWARD_NAMES.get(key, key): value for key, value in changes.items()}, status)
        for name, changes, status in ERRORS
        if not any(key.endswith("Out") for key in changes)
    ),
    *((f"{name} null", {name: None}, ACLNN_ERR_PARAM_NULLPTR) for name in ("dy", "dqOut", "dkOut", "dvOut")),
    *((f"{name} null", {name: None}, REFUSED) for name in ("softmaxMaxOptional", "softmaxSumOptional", "attentionInOptional")),
    *(
        (f"{name} of a wrong type", {name: Meta((2, 4, 6, 8), np.int32)}, INVALID)
        for name in ("dy", "attentionInOptional", "dqOut", "dkOut", "dvOut")
    ),
    *(
        (f"{name} of a wrong type", {name: Meta((2, 4, 6, 8), np.float16)}, INVALID)
        for name in ("softmaxMaxOptional", "softmaxSumOptional")
    ),
    ("types of query and dy differ", {"dy": Meta((2, 4, 6, 8), np.float16)}, INVALID),
    ("shape of dy", {"dy": Meta((2, 4, 6, 9), np.float32)}, INVALID),
    ("shape of the output", {"attentionInOptional": Meta((2, 4, 6, 9), np.float32)}, REFUSED),
    ("shape of the sum", {"softmaxSumOptional": Meta((2, 4, 6, 1), np.float32)}, REFUSED),
    ("shape of dkOut", {"dkOut": Meta((2, 4, 10, 8), np.float32)}, REFUSED),
]


@pytest.mark.parametrize("error", ERRORS, ids=[error[0] for error in ERRORS])
def test_errors(error: tuple[str, dict[str, Any], int]) -> None:
    _, changes, status = error
    assert valid().but(**changes).status() == status, message()


@pytest.mark.parametrize("error", BACKWARD_ERRORS, ids=[error[0] for error in BACKWARD_ERRORS])
def test_backward_errors(error: tuple[str, dict[str, Any], int]) -> None:
    _, changes, status = error
    assert valid_backward().but(**changes).status() == status, message()


@pytest.mark.parametrize("call", [valid, valid_backward], ids=[FORWARD, BACKWARD])
def test_products(call: Any, chip: Any) -> None:
    assert products_of(call(FLOAT16), chip) == {"950", "A3", "A2"}


LONG = """
import resource
import numpy as np
import acl_emu as acl
from aclnnop import aclnnFlashAttentionScore, aclnnFlashAttentionScoreGetWorkspaceSize
acl.aclInit(None); acl.aclrtSetDevice(0)
stream, _ = acl.aclrtCreateStream()
def tensor(shape, code, fill):
    array = np.empty(shape, {acl.ACL_FLOAT16: np.float16, acl.ACL_FLOAT: np.float32, acl.ACL_BOOL: np.bool_}[code])
    array[...] = fill
    address, _ = acl.aclrtMalloc(array.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    acl.aclrtMemcpy(address, array.nbytes, array, array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    return acl.aclCreateTensor(shape, code, None, 0, acl.ACL_FORMAT_ND, shape, address)
query, key, value, out = (tensor((1, 8, 8192, 128), acl.ACL_FLOAT16, 0.25) for _ in range(4))
rows = [tensor((1, 8, 8192, 8), acl.ACL_FLOAT, 0) for _ in range(2)]
mask = tensor((2048, 2048), acl.ACL_BOOL, np.triu(np.ones((2048, 2048), bool), 1))
size, executor, status = aclnnFlashAttentionScoreGetWorkspaceSize(
    query, key, value, None, None, None, mask, None, 0.088, 1.0, 2047, 0, 8, "BNSD", 0, 4, *rows, None, out)
assert status == 0, acl.aclGetRecentErrMsg()
workspace, _ = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert aclnnFlashAttentionScore(workspace, size, executor, stream) == 0
assert acl.aclrtSynchronizeStream(stream) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_grows_with_the_length_and_not_with_its_square() -> None:
    """Scores of 8 heads with 8192 queries and keys would take 2 GB; a band of 2048 keys makes it a second's work, and changes no buffer."""
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert int(done.stdout) < 200 * 1024, "KB more than before"
