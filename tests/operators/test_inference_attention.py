"""Attention for inference beside aclnnFusedInferAttentionScoreV2: its first and third version, prompts, single queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aclnnop
from acl_emu import ACL_ERROR_RT_AICORE_EXCEPTION, ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16
from tests.operators.attending import Attention, assert_close, attention, from_heads, to_heads, visible
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.products import products_of

VERSIONS = ("FusedInferAttentionScore", "FusedInferAttentionScoreV3", "FusedInferAttentionScoreV4")
PROMPTS = ("PromptFlashAttention", "PromptFlashAttentionV2", "PromptFlashAttentionV3")
ONE_QUERY = ("IncreFlashAttention", "IncreFlashAttentionV2", "IncreFlashAttentionV3", "IncreFlashAttentionV4")
ALL = [f"aclnn{name}" for name in (*VERSIONS, *PROMPTS, *ONE_QUERY)]
TRIANGLE = np.triu(np.ones((2048, 2048), np.bool_), 1)


def plain(call: Case) -> dict[str, Any]:
    """The arguments, by one name in all operators."""
    given = {name.removesuffix("Optional"): value for name, value in call.arguments.items()}
    if "Incre" in call.operator:
        given = {
            {"actualSeqLengths": "actualSeqLengthsKv", "blocktable": "blockTable"}.get(name, name): value for name, value in given.items()
        }
    return {name: value for name, value in given.items() if value is not None}


def dense(arrays: Any, given: dict[str, Any], heads: int, batch: int) -> Array:
    """Keys or values by batch, head, position and feature, whatever they are stored in."""
    layout = given["inputLayout"].partition("_")[0]
    members = arrays if isinstance(arrays, list) else [arrays]
    if "blockTable" in given:
        (pages,) = members
        if pages.ndim == 5:
            pages = np.einsum("pncse->pnsce", pages.astype(np.float64)).reshape(*pages.shape[:2], pages.shape[3], -1)
        cache = to_heads(pages, "BSH" if pages.ndim == 3 else "BNSD", heads)
        return np.stack([np.concatenate([cache[max(page, 0) % len(cache)] for page in row], axis=1) for row in given["blockTable"]])
    found = [to_heads(member, layout, heads) for member in members]
    longest = max(array.shape[2] for array in found)
    joined = np.concatenate([np.pad(array, ((0, 0), (0, 0), (0, longest - array.shape[2]), (0, 0))) for array in found])
    assert len(joined) == batch or "T" in layout
    return joined


def golden(call: Case) -> Attention:
    """All that the examples use, for layouts with a batch."""
    given = plain(call)
    layout = given["inputLayout"].partition("_")[0]
    heads, key_heads = given["numHeads"], given["numKeyValueHeads"] or given["numHeads"]
    query = to_heads(given["query"], layout, heads)
    batch, _, rows, _ = query.shape
    key, value = (dense(given[name], given, key_heads, batch) for name in ("key", "value"))
    for half, name in enumerate(("key", "value")):
        scale = given.get(f"{name}AntiquantScale", given["antiquantScale"][half] if "antiquantScale" in given else None)
        if scale is not None:
            spread = np.asarray(scale, np.float64).reshape(1, key_heads if np.size(scale) > 1 else 1, 1, -1)
            key, value = (key * spread, value) if half == 0 else (key, value * spread)
    if "dequantScaleQuery" in given:
        scale = to_heads(given["dequantScaleQuery"][..., None], layout.replace("H", "ND"), heads)
        query = query * scale
    if "queryRope" in given:
        query = np.concatenate([query, to_heads(given["queryRope"], layout, heads)], axis=3)
        key = np.concatenate([key, dense(given["keyRope"], given, key_heads, batch)], axis=3)
    columns = key.shape[2]
    counts = np.array(given.get("actualSeqLengthsKv", [columns]))[:, None, None, None]
    first = columns - int(given["kvPaddingSize"][0]) - counts if "kvPaddingSize" in given else 0
    seen = (np.arange(columns) >= first) & (np.arange(columns) < first + counts)
    if "actualSeqLengths" in given and rows > 1:
        seen = seen & (np.arange(rows)[:, None] < np.array(given["actualSeqLengths"])[:, None, None, None])
    if given.get("sparseMode") == 9:
        tree = np.zeros((batch, 1, rows, columns), bool)
        tree[:, 0, :, columns - rows :] = given["attenMask"] != 0
        seen = seen & ~tree
    elif "attenMask" in given:
        mask = given["attenMask"]
        seen = seen & (mask.reshape(-1, 1, *(mask.shape[-2:] if rows > 1 else (1, mask.shape[-1]))) == 0)
    if "learnableSink" in given:
        return with_sink(query, key, value, given["scaleValue"], seen, given["learnableSink"].astype(np.float64))
    return attention(
        query, key, value, given["scaleValue"], seen, given["pseShift"].astype(np.float64) if "pseShift" in given else 0.0, first=False
    )


def with_sink(query: Array, key: Array, value: Array, scale: float, seen: Any, sink: Array) -> Attention:
    """One more key that all see, whose score is given and whose value is 0."""
    batch, heads, rows, _ = query.shape
    key, value = (np.repeat(array, heads // array.shape[1], axis=1) for array in (key, value))
    extra = np.broadcast_to(sink[:, None, None] / scale, (batch, heads, 1, 1))
    query = np.concatenate([query, np.ones((batch, heads, rows, 1))], axis=3)
    key = np.concatenate(
        [np.pad(key, ((0, 0), (0, 0), (0, 1), (0, 0))), np.pad(extra, ((0, 0), (0, 0), (key.shape[2], 0), (0, 0)))], axis=3
    )
    value = np.pad(value, ((0, 0), (0, 0), (0, 1), (0, 0)))
    seen = np.concatenate([np.broadcast_to(seen, (batch, heads, rows, key.shape[2] - 1)), np.ones((batch, heads, rows, 1), bool)], axis=3)
    return attention(query, key, value, scale, seen)


def assert_right(call: Case, expected: Attention, strides: int = 0) -> None:
    out, *rest = call.results(strides)
    given = plain(call)
    layout = given["inputLayout"].rpartition("_")[2]
    to_layout = np.einsum("bnsd->nbsd", expected.out) if layout == "NBSD" else from_heads(expected.out, layout)
    terms = np.einsum("bnsd->nbsd", expected.terms) if layout == "NBSD" else from_heads(expected.terms, layout)
    if out.dtype == np.int8:
        exact = to_layout * float(given["quantScale2"][0]) + float(given["quantOffset2"][0] if "quantOffset2" in given else 0)
        assert (np.abs(out - np.clip(exact, -128, 127)) <= 0.501).all()
    else:
        assert_close(out, to_layout, terms)
    if given.get("softmaxLseFlag"):
        logarithm = expected.largest + np.log(expected.total)
        assert_close(rest[0][..., 0], logarithm, np.maximum(np.abs(logarithm), 4))


@pytest.mark.parametrize("name", ALL)
def test_examples(name: str, device: int) -> None:
    """Against float64, contiguous and with strides."""
    for example in aclnnop.find(name).examples():
        if "T" not in example["inputLayout"]:
            call = Case(name, example)
            for strides in (0, 3):
                assert_right(call, golden(call), strides)


def example(name: str, number: int = 0) -> Case:
    return Case(name, list(aclnnop.find(name).examples())[number])


def fused(
    layout: str, queries: tuple[int, int, int, int], keys: tuple[int, int, int, int], dtype: Any = np.float16, **changes: Any
) -> Case:
    """A call of the third version; lengths are batch, heads, positions and features."""
    call = example("aclnnFusedInferAttentionScoreV3")
    inputs, _, outputs = layout.partition("_")
    shapes = {name: from_heads(np.zeros(sizes), inputs).shape for name, sizes in (("query", queries), ("key", keys))}
    out = np.zeros((queries[1], queries[0], *queries[2:])) if outputs == "NBSD" else from_heads(np.zeros(queries), outputs or inputs)
    arrays = {
        "query": numbers(shapes["query"], dtype, 1),
        "key": [numbers(shapes["key"], dtype, 2)],
        "value": [numbers(shapes["key"], dtype, 3)],
    }
    call = call.but(
        pseShiftOptional=None, numHeads=queries[1], numKeyValueHeads=keys[1], inputLayout=layout, attentionOut=out.astype(dtype), **arrays
    )
    return call.but(**changes)


@pytest.mark.parametrize("layout", ["BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "BNSD_BSND"])
def test_layouts_of_the_output(layout: str, device: int) -> None:
    call = fused(layout, (2, 4, 9, 16), (2, 2, 21, 16))
    assert_right(call, golden(call))


@pytest.mark.parametrize("layout", ["TND", "TND_NTD", "NTD_TND"])
@pytest.mark.parametrize("rope", [False, True], ids=["plain", "with ropes"])
def test_sequences_behind_each_other(layout: str, rope: bool, device: int) -> None:
    ends, key_ends = [3, 3, 9], [4, 9, 20]
    call = fused(layout, (1, 4, 9, 128), (1, 2, 20, 128), BF16, actualSeqLengthsOptional=ends, actualSeqLengthsKvOptional=key_ends)
    call = call.but(attenMaskOptional=TRIANGLE, sparseMode=3)
    inputs, _, outputs = layout.partition("_")
    if rope:
        ropes = [from_heads(numbers((1, heads, count, 64), np.float64, heads), inputs).astype(BF16) for heads, count in ((4, 9), (2, 20))]
        call = call.but(queryRopeOptional=ropes[0], keyRopeOptional=ropes[1])
    given = call.arguments
    query, key, value = (to_heads(array, inputs, 0) for array in (given["query"], given["key"][0], given["value"][0]))
    if rope:
        query = np.concatenate([query, to_heads(given["queryRopeOptional"], inputs, 0)], axis=3)
        key = np.concatenate([key, to_heads(given["keyRopeOptional"], inputs, 0)], axis=3)
    out = to_heads(call.results()[0], outputs or inputs, 0)
    for first, last, start, stop in zip([0, *ends], ends, [0, *key_ends], key_ends, strict=False):
        seen = visible(3, last - first, stop - start)
        exact = attention(query[:, :, first:last], key[:, :, start:stop], value[:, :, start:stop], 0.25, seen)
        assert_close(out[:, :, first:last].astype(BF16), exact.out, exact.terms)


@pytest.mark.parametrize("nz", [False, True], ids=["rows", "blocks of 16 features"])
@pytest.mark.parametrize("layout", ["BSH", "BSND", "BSND_NBSD"])
def test_latent_attention(layout: str, nz: bool, device: int) -> None:
    """Keys of one head that are values, too, in pages."""
    rows = 1 if "_" not in layout else 3
    pages, ropes = numbers((4, 16, 512), BF16, 4, 0.2), numbers((4, 16, 64), BF16, 5, 0.2)
    inputs = layout.partition("_")[0]
    call = fused(layout, (2, 4, rows, 512), (2, 1, 1, 512), BF16)
    if nz:
        pages, ropes = (np.ascontiguousarray(np.einsum("psce->pcse", array.reshape(4, 16, -1, 16)))[:, None] for array in (pages, ropes))
    rope = from_heads(numbers((2, 4, rows, 64), np.float64, 6), inputs).astype(BF16)
    table = np.array([[3, 0], [1, 2]], np.int32)
    call = call.but(key=[pages], value=[pages], keyRopeOptional=ropes, queryRopeOptional=rope, blockTableOptional=table, blockSize=16)
    call = call.but(actualSeqLengthsKvOptional=[25, 9])
    assert_right(call, golden(call))


def test_trees_of_sequences_behind_each_other(device: int) -> None:
    """The squares follow each other; keys before the last ones are seen."""
    ends, key_ends, counts = [3, 5], [7, 12], [(3, 7), (2, 5)]
    call = fused("TND", (1, 4, 5, 64), (1, 2, 12, 64), BF16, actualSeqLengthsOptional=ends, actualSeqLengthsKvOptional=key_ends)
    squares = [np.random.default_rng(rows).random((rows, rows)) < 0.4 for rows, _ in counts]
    mask = np.concatenate([square.ravel() for square in squares])
    newest = {"dequantScaleQueryOptional": None, "learnableSinkOptional": None, "queryQuantMode": 0}
    call = Case("aclnnFusedInferAttentionScoreV4", {**call.arguments, **newest, "attenMaskOptional": mask, "sparseMode": 9})
    query, key, value = (
        to_heads(array, "TND", 0) for array in (call.arguments["query"], call.arguments["key"][0], call.arguments["value"][0])
    )
    out = call.results()[0]
    for first, last, start, stop, square in zip([0, 3], ends, [0, 7], key_ends, squares, strict=True):
        seen = np.concatenate([np.ones((last - first, stop - start - (last - first)), bool), ~square], axis=1)
        exact = attention(query[:, :, first:last], key[:, :, start:stop], value[:, :, start:stop], 0.25, seen)
        assert_close(out[first:last], from_heads(exact.out, "TND"), from_heads(exact.terms, "TND"))


@pytest.mark.parametrize("name", ONE_QUERY[1:])
def test_empty_tensors_count_as_null(name: str, device: int) -> None:
    call = example(f"aclnn{name}")
    nothing = {
        parameter: Meta((0,), dtype)
        for parameter, dtype in (("pseShift", np.float16), ("attenMask", np.bool_), ("quantScale2", np.float32))
    }
    assert call.but(**nothing).status() == 0, message()


@pytest.mark.parametrize("name", ["aclnnPromptFlashAttention", "aclnnIncreFlashAttention"])
def test_position_encodings_of_the_first_versions_are_not_used(name: str, device: int) -> None:
    call = example(name)
    shift = np.full((2, 4, 9 if "Prompt" in name else 1, 21), np.nan, np.float16)
    assert_right(call.but(pseShift=shift), golden(call))


def test_a_prompt_of_one_token(device: int) -> None:
    """Sparse modes count for it, unlike for the operators that tell from the shape."""
    call = example("aclnnPromptFlashAttentionV3", 1).but(pseShift=None, actualSeqLengthsKv=None)
    shapes = {"query": (2, 1, 4, 16), "attentionOut": (2, 1, 4, 16)}
    call = call.but(**{name: numbers(shape, np.float16, 1) for name, shape in shapes.items()}, sparseMode=2, attenMask=TRIANGLE)
    value = to_heads(call.arguments["value"], "BSND", 2)[:, :, :1]
    np.testing.assert_array_equal(call.results()[0].astype(np.float64), from_heads(np.repeat(value, 2, axis=1), "BSND"))


def test_pages_of_a_single_query(device: int) -> None:
    call = example("aclnnIncreFlashAttentionV3", 1)
    assert call.arguments["blocktable"] is not None
    table = call.arguments["blocktable"].copy()
    table[1, 1] = 4
    assert call.but(blocktable=table).refused() == ACL_ERROR_RT_AICORE_EXCEPTION


REFUSED, INVALID = ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID
PAGES: dict[str, Any] = {"blockTableOptional": Meta((2, 1), np.int32), "blockSize": 128, "actualSeqLengthsKvOptional": [5]}
HEADS_FIRST = [Meta((2, 2, 128, 16), np.float16)]
ROPES: dict[str, Any] = {"queryRopeOptional": Meta((2, 1, 256), np.float16), "keyRopeOptional": Meta((2, 21, 128), np.float16)}
TWO: dict[str, Any] = {name: Meta((2, 2, 64), np.float16) for name in ("query", "attentionOut")}
ERRORS: list[tuple[str, int, str, dict[str, Any], int]] = [
    *(
        (name, 0, f"{parameter} null", {parameter: None}, ACLNN_ERR_PARAM_NULLPTR)
        for name in ALL
        for parameter in ("query", "key", "value", "attentionOut")
    ),
    *((name, 0, "type of query", {"query": Meta((2, 9, 64), np.float32)}, INVALID) for name in ALL),
    *((name, 0, "type of attentionOut", {"attentionOut": Meta((2, 9, 64), np.float32)}, INVALID) for name in ALL),
    *((name, 0, "numHeads", {"numHeads": 3}, REFUSED) for name in ALL),
    *((name, 0, "layout", {"inputLayout": "SBH"}, REFUSED) for name in ALL),
    *((f"aclnn{name}", 0, "layout TND", {"inputLayout": "TND"}, REFUSED) for name in (*PROMPTS[:2], *ONE_QUERY)),
    *((f"aclnn{name}", 0, "several queries", TWO, REFUSED) for name in ONE_QUERY),
    *((f"aclnn{name}", 1, f"blockSize {size}", {"blockSize": size}, REFUSED) for name in ONE_QUERY[2:] for size in (0, 8, 528)),
    *((f"aclnn{name}", 0, "sparseMode 5", {"sparseMode": 5}, REFUSED) for name in PROMPTS[1:]),
    *((f"aclnn{name}", 2, "no scale of the output", {"quantScale2": None}, REFUSED) for name in PROMPTS[1:]),
    ("aclnnFusedInferAttentionScore", 4, "no scales", {"antiquantScale": None}, REFUSED),
    ("aclnnFusedInferAttentionScore", 4, "antiquantMode 2", {"antiquantMode": 2}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 8, "number of sinks", {"learnableSinkOptional": Meta((3,), np.float16)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 8, "type of sinks", {"learnableSinkOptional": Meta((4,), BF16)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 8, "sinks and a position encoding", {"pseShiftOptional": Meta((1, 4, 9, 21), np.float16)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 9, "shape of a tree", {"attenMaskOptional": Meta((9, 9), np.bool_)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 9, "a tree of fewer keys", {"actualSeqLengthsKvOptional": [8]}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 9, "no tree", {"attenMaskOptional": None}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 10, "blockSize 24", {"blockSize": 24}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 11, "queryQuantMode", {"queryQuantMode": 0}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 11, "shape of the query's scale", {"dequantScaleQueryOptional": Meta((2, 1), np.float32)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 11, "no scale of keys", {"keyAntiquantScaleOptional": None}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 11, "an offset of keys", {"keyAntiquantOffsetOptional": Meta((1,), np.float32)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV4", 11, "type of the output", {"attentionOut": Meta((2, 1, 2048), np.float16)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV3", 0, "a tree", {"sparseMode": 9, "attenMaskOptional": Meta((2, 9, 9), np.bool_)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV3", 7, "one rope", {"keyRopeOptional": None}, REFUSED),
    ("aclnnFusedInferAttentionScoreV3", 7, "features of a rope", {"queryRopeOptional": Meta((2, 1, 128), np.float16)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV3", 7, "type of a rope", {"queryRopeOptional": Meta((2, 1, 256), BF16)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV3", 7, "blockSize 8", {"blockSize": 8}, REFUSED),
    ("aclnnFusedInferAttentionScoreV3", 7, "ropes and a position encoding", {"pseShiftOptional": Meta((2, 4, 1, 32), np.float16)}, REFUSED),
    ("aclnnFusedInferAttentionScoreV3", 2, "ropes beside other features", ROPES, REFUSED),
    (
        "aclnnFusedInferAttentionScoreV3",
        0,
        "pages of heads first",
        {**PAGES, "pseShiftOptional": None, "key": HEADS_FIRST, "value": HEADS_FIRST},
        REFUSED,
    ),
]


@pytest.mark.parametrize("error", ERRORS, ids=[f"{error[0]} {error[2]}" for error in ERRORS])
def test_errors(error: tuple[str, int, str, dict[str, Any], int]) -> None:
    name, number, _, changes, status = error
    call = example(name, number)
    assert call.status() == 0, message()
    assert call.but(**changes).status() == status, message()


ON_310P: list[tuple[str, dict[str, Any], int]] = [
    ("aclnnPromptFlashAttentionV3", {"numKeyValueHeads": 2}, REFUSED),
    ("aclnnPromptFlashAttentionV3", {"preTokens": 5}, REFUSED),
    ("aclnnPromptFlashAttentionV3", {"nextTokens": 5}, REFUSED),
    ("aclnnPromptFlashAttentionV3", {"sparseMode": 2, "attenMask": Meta((2048, 2048), np.bool_)}, REFUSED),
    ("aclnnPromptFlashAttentionV3", {"pseShift": Meta((1, 4, 9, 21), np.float16)}, REFUSED),
    ("aclnnPromptFlashAttentionV3", {"quantScale2": Meta((1,), np.float32)}, REFUSED),
    ("aclnnPromptFlashAttentionV3", {"attenMask": Meta((9, 21), np.int8)}, INVALID),
    ("aclnnPromptFlashAttentionV3", {"attentionOut": Meta((2, 4, 9, 16), np.int8)}, INVALID),
    ("aclnnIncreFlashAttentionV4", {"numKeyValueHeads": 2}, REFUSED),
    ("aclnnIncreFlashAttentionV4", {"quantScale2": Meta((1,), np.float32)}, REFUSED),
]


@pytest.mark.parametrize("error", ON_310P, ids=[f"{error[0]} {next(iter(error[1]))}" for error in ON_310P])
def test_what_310p_leaves_out(error: tuple[str, dict[str, Any], int], chip: Any) -> None:
    name, changes, status = error
    chip("Ascend310P3")
    call = on_310p(name)
    assert call.status() == 0, message()
    assert call.but(**changes).status() == status, message()


def on_310p(name: str) -> Case:
    """A call that all products have."""
    rows = 9 if "Prompt" in name else 1
    call = example(name)
    unused = {
        parameter: None for parameter in ("attenMask", "pseShift", "actualSeqLengthsKv", "actualSeqLengths") if parameter in call.arguments
    }
    tokens = {parameter: 2147483647 for parameter in ("preTokens", "nextTokens") if parameter in call.arguments}
    modes = {"sparseMode": 0} if "sparseMode" in call.arguments else {}
    keys = numbers((2, 4, 21, 16), np.float16, 2)
    stored = keys if "Prompt" in name else [keys]
    arrays = {
        "query": numbers((2, 4, rows, 16), np.float16, 1),
        "key": stored,
        "value": stored,
        "attentionOut": numbers((2, 4, rows, 16), np.float16, 3),
    }
    return call.but(numKeyValueHeads=0, inputLayout="BNSD", **arrays, **unused, **tokens, **modes)


@pytest.mark.parametrize("name", ALL[3:])
def test_products(name: str, chip: Any) -> None:
    assert products_of(on_310p(name), chip) == {"A3", "A2", "310P"}


@pytest.mark.parametrize("name", ALL[:3])
def test_products_of_fused_versions(name: str, chip: Any) -> None:
    assert products_of(example(name), chip) == {"A3", "A2"}
