"""aclnnFusedInferAttentionScoreV2."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import acl_emu as acl
from acl_emu import (
    ACL_ERROR_RT_AICORE_EXCEPTION,
    ACLNN_ERR_INNER_TILING_ERROR,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_PARAM_NULLPTR,
)
from acl_emu.engine import nest_for
from aclnnop.attention.heads import Lengths, shape_in
from aclnnop.attention.inference_examples import OPTIONAL
from aclnnop.attention.scalings import MERGED, QUANTISED, SCALINGS, Quantised, Row
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT16
from tests.operators.attending import Attention, assert_close, attention, from_heads, to_heads, visible
from tests.operators.case import Array, Case, Meta, Placed, numbers
from tests.operators.products import products_of

NAME = "aclnnFusedInferAttentionScoreV2"
HALVES = (FLOAT16, BF16)
LAYOUTS = ("BSH", "BSND", "BNSD", "BNSD_BSND")
TRIANGLE = np.triu(np.ones((2048, 2048), np.int8), 1)
SEVERAL, ONE, KEYS = Lengths(2, 6, 7, 16), Lengths(2, 6, 1, 16), Lengths(2, 2, 19, 16)


def whole(shape: tuple[int, ...], seed: int) -> Array:
    """INT8 numbers."""
    return np.random.default_rng(seed).integers(-128, 128, shape, np.int8)


def fused(layout: str, dtype: Any, queries: Lengths = SEVERAL, keys: Lengths = KEYS, **changes: Any) -> Case:
    """A call with one tensor of keys and one of values."""
    inputs, _, outputs = layout.partition("_")
    shape = shape_in(inputs, keys)
    call = {
        **dict.fromkeys(OPTIONAL),
        "query": numbers(shape_in(inputs, queries), dtype, 1),
        "key": [numbers(shape, dtype, 2)],
        "value": [numbers(shape, dtype, 3)],
        "numHeads": queries.heads,
        "scaleValue": 0.25,
        "preTokens": 2147483647,
        "nextTokens": 2147483647,
        "inputLayout": layout,
        "numKeyValueHeads": keys.heads,
        "sparseMode": 0,
        "innerPrecise": 0,
        "blockSize": 0,
        "antiquantMode": 0,
        "softmaxLseFlag": False,
        "keyAntiquantMode": 0,
        "valueAntiquantMode": 0,
        "attentionOut": numbers(shape_in(outputs or inputs, queries), dtype, 4),
    }
    return Case(NAME, call).but(**changes)


def golden(call: Case, seen: Any = True, keys: Any = None, values: Any = None, added: Any = 0.0) -> Attention:
    """``keys`` and ``values`` by head where they are not stored as they are."""
    given = call.arguments
    layout = given["inputLayout"].partition("_")[0]
    heads = given["numKeyValueHeads"] or given["numHeads"]
    query = to_heads(given["query"], layout, given["numHeads"])
    key = to_heads(given["key"][0], layout, heads) if keys is None else keys
    value = to_heads(given["value"][0], layout, heads) if values is None else values
    return attention(query, key, value, given["scaleValue"], seen, added, first=False)


def assert_right(call: Case, expected: Attention, strides: int = 0) -> None:
    out, *rest = call.results(strides)
    inputs, _, outputs = call.arguments["inputLayout"].partition("_")
    assert_close(out, from_heads(expected.out, outputs or inputs), from_heads(expected.terms, outputs or inputs))
    if call.arguments["softmaxLseFlag"]:
        (lse,) = rest
        with np.errstate(divide="ignore"):
            exact = np.where(expected.total > 0, expected.largest + np.log(expected.total), np.inf)
        assert_close(lse[..., 0], exact, np.where(np.isfinite(exact), np.maximum(np.abs(exact), 4), exact))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, dtype: Any, device: int) -> None:
    call = fused(layout, dtype, softmaxLseFlag=True, softmaxLse=np.zeros((2, 6, 7, 1), np.float32))
    for strides in (0, 5):
        assert_right(call, golden(call), strides)


@pytest.mark.parametrize("layout", ["BSH", "BSND", "BNSD"])
def test_one_query(layout: str, device: int) -> None:
    """Lengths of queries, tokens and the sparse mode mean nothing then."""
    mask = np.random.default_rng(0).random((2, 1, 1, 19)) < 0.4
    for shape in ((2, 19), (2, 1, 19), (2, 1, 1, 19)):
        call = fused(
            layout, BF16, ONE, attenMaskOptional=mask.reshape(shape), actualSeqLengthsOptional=[7, 7, 7], sparseMode=9, preTokens=0
        )
        assert_right(call, golden(call, ~mask))


def test_heads_of_keys_default_to_those_of_queries(device: int) -> None:
    call = fused("BNSD", FLOAT16, keys=KEYS._replace(heads=6), numKeyValueHeads=0)
    assert_right(call, golden(call))


@pytest.mark.parametrize("shape", [(7, 19), (2, 7, 19), (1, 7, 19), (2, 1, 7, 19), (1, 1, 7, 19), (1, 1, 16, 32)], ids=str)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8], ids=str)
def test_masks(shape: tuple[int, ...], dtype: Any, device: int) -> None:
    """Also one that is padded to a multiple of 16 or 32."""
    mask = np.random.default_rng(1).random(shape) < 0.4
    seen = ~mask.reshape(-1, 1, *shape[-2:])[:, :, :7, :19]
    call = fused("BSND", FLOAT16, attenMaskOptional=mask.astype(dtype))
    assert_right(call, golden(call, seen))


@pytest.mark.parametrize("mode", [2, 3, 4])
@pytest.mark.parametrize("counts", [(7, 19), (19, 7)], ids=str)
@pytest.mark.parametrize("shape", [(2048, 2048), (1, 2048, 2048), (1, 1, 2048, 2048)], ids=str)
def test_compressed_masks(mode: int, counts: tuple[int, int], shape: tuple[int, ...], device: int) -> None:
    """Queries that see no key give 0."""
    tokens = {"preTokens": 4, "nextTokens": 1}
    rows, columns = counts
    queries, keys = SEVERAL._replace(positions=rows), KEYS._replace(positions=columns)
    lse = np.zeros((2, 6, rows, 1), np.float32)
    call = fused(
        "BNSD", BF16, queries, keys, attenMaskOptional=TRIANGLE.reshape(shape), sparseMode=mode, softmaxLseFlag=True, softmaxLse=lse
    )
    assert_right(call.but(**tokens), golden(call, visible(mode, rows, columns, 4, 1)))


def test_mode_0_and_1(device: int) -> None:
    mask = np.random.default_rng(2).random((7, 19)) < 0.3
    call = fused("BSH", FLOAT16, attenMaskOptional=mask, preTokens=2, nextTokens=3)
    assert_right(call, golden(call, ~mask & visible(0, 7, 19, 2, 3)))
    assert_right(call.but(sparseMode=1), golden(call, ~mask))
    assert_right(call.but(attenMaskOptional=None), golden(call))


@pytest.mark.parametrize("shape", [(2, 6, 7, 19), (1, 6, 7, 19), (1, 6, 16, 32)], ids=str)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_position_encodings(shape: tuple[int, ...], dtype: Any, device: int) -> None:
    """Added after the scores are scaled; what is -inf there is hidden, as inference engines use it."""
    shift = numbers(shape, dtype, 6)
    shift[..., 3] = -np.inf
    call = fused("BSND", dtype, pseShiftOptional=shift)
    assert_right(call, golden(call, added=shift.astype(np.float64)[:, :, :7, :19]))
    one = fused("BSND", dtype, ONE, pseShiftOptional=shift[:, :, :1])
    assert_right(one, golden(one, added=shift.astype(np.float64)[:, :, :1, :19]))


@pytest.mark.parametrize("lengths", [([5, 2], [19, 6]), ([3], [8]), ([5, 0, 9], [0, 19, 3])], ids=str)
def test_lengths(lengths: tuple[list[int], list[int]], device: int) -> None:
    """What does not count is not read, and gives 0; its logarithm is infinite."""
    rows, columns = ((np.array(counts * 2 if len(counts) == 1 else counts[:2]))[:, None, None, None] for counts in lengths)
    call = fused("BNSD", FLOAT16, softmaxLseFlag=True, softmaxLse=np.zeros((2, 6, 7, 1), np.float32))
    call = call.but(actualSeqLengthsOptional=lengths[0], actualSeqLengthsKvOptional=lengths[1])
    for name in ("key", "value"):
        (array,) = call.arguments[name]
        array[np.broadcast_to(np.arange(19)[None, None, :, None] >= columns, array.shape)] = np.nan
    counted = (np.arange(7)[:, None] < rows) & (np.arange(19) < columns)
    clean = [np.nan_to_num(call.arguments[name][0].astype(np.float64)) for name in ("key", "value")]
    assert_right(call, golden(call, counted, *clean))


@pytest.mark.parametrize("queries", [SEVERAL, ONE], ids=["several", "one"])
def test_lists(queries: Lengths, device: int) -> None:
    """A tensor for each sequence, each of its own length."""
    counts = (19, 11)
    members = [[numbers((1, 2, count, 16), BF16, seed + count) for count in counts] for seed in (5, 6)]
    call = fused("BNSD", BF16, queries, key=members[0], value=members[1], actualSeqLengthsKvOptional=[17, 11])
    keys, values = (np.stack([np.pad(array[0], ((0, 0), (0, 19 - array.shape[2]), (0, 0))) for array in side]) for side in members)
    seen = np.arange(19) < np.array([17, 11])[:, None, None, None]
    assert_right(call, golden(call, seen, keys.astype(np.float64), values.astype(np.float64)))


def in_pages(size: int, lengths: list[int], dtype: Any, order: str, seed: int = 7) -> tuple[dict[str, Any], list[Array]]:
    """Keys and values in pages, and by head."""
    counts = [-(-length // size) for length in lengths]
    pages = np.random.default_rng(seed).permutation(sum(counts) + 2).astype(np.int32)
    table = np.full((len(lengths), max(counts) + 1), -1, np.int32)
    starts = np.cumsum([0, *counts])
    arguments: dict[str, Any] = {"blockTableOptional": table, "blockSize": size, "actualSeqLengthsKvOptional": lengths}
    plain = []
    for index, name in enumerate(("key", "value")):
        cache = numbers((len(pages), 2, size, 16), dtype, seed + index)
        by_head = np.zeros((len(lengths), 2, max(counts) * size, 16))
        for row, count in enumerate(counts):
            table[row, :count] = pages[starts[row] : starts[row] + count]
            for number, page in enumerate(table[row, :count]):
                by_head[row, :, number * size : (number + 1) * size] = cache[page]
        plain.append(by_head)
        heads_first = cache if order == "BnNBsD" else cache.transpose(0, 2, 1, 3).reshape(len(pages), size, 32)
        arguments[name] = [np.ascontiguousarray(heads_first)]
    return arguments, plain


@pytest.mark.parametrize(("layout", "order"), [("BNSD", "BnNBsD"), ("BNSD", "BnBsH"), ("BSND", "BnBsH"), ("BSH", "BnBsH")])
@pytest.mark.parametrize(("queries", "size"), [(SEVERAL, 128), (ONE, 16), (ONE, 48)], ids=["several", "one", "one, odd"])
def test_pages(layout: str, order: str, queries: Lengths, size: int, device: int) -> None:
    arguments, (keys, values) = in_pages(size, [size * 2 + 3, 5], FLOAT16, order)
    seen = np.arange(keys.shape[2]) < np.array(arguments["actualSeqLengthsKvOptional"])[:, None, None, None]
    call = fused(layout, FLOAT16, queries, **arguments)
    assert_right(call, golden(call, seen, keys, values))


def test_pages_that_do_not_exist(device: int) -> None:
    arguments, _ = in_pages(16, [20, 5], FLOAT16, "BnNBsD")
    for page in (5, -1):
        table = arguments["blockTableOptional"].copy()
        table[0, 1] = page
        assert fused("BNSD", FLOAT16, ONE, **{**arguments, "blockTableOptional": table}).refused() == ACL_ERROR_RT_AICORE_EXCEPTION


@pytest.mark.parametrize("pages", [False, True], ids=["dense", "pages"])
def test_sequences_behind_each_other(pages: bool, device: int) -> None:
    """Layout TND: ends of sequences, of keys their lengths where they are in pages."""
    ends, key_ends = [3, 3, 7], [130, 135, 140]
    starts, key_starts = [0, *ends[:-1]], [0, *key_ends[:-1]]
    keys = Lengths(1, 2, 140, 16)
    call = fused("TND", BF16, Lengths(1, 6, 7, 16), keys, actualSeqLengthsOptional=ends, actualSeqLengthsKvOptional=key_ends)
    call = call.but(attenMaskOptional=TRIANGLE, sparseMode=3, softmaxLseFlag=True, softmaxLse=np.zeros((7, 6, 1), np.float32))
    query = to_heads(call.arguments["query"], "TND", 6)
    plain = [to_heads(call.arguments[name][0], "TND", 2) for name in ("key", "value")]
    sides = [[array[:, :, first:last] for first, last in zip(key_starts, key_ends, strict=True)] for array in plain]
    if pages:
        lengths = [last - first for first, last in zip(key_starts, key_ends, strict=True)]
        arguments, by_head = in_pages(128, lengths, BF16, "BnBsH")
        call = call.but(**arguments)
        sides = [[array[row : row + 1, :, :length] for row, length in enumerate(lengths)] for array in by_head]
    out, lse = call.results()
    for number, (first, last) in enumerate(zip(starts, ends, strict=True)):
        key, value = sides[0][number], sides[1][number]
        exact = attention(query[:, :, first:last], key, value, 0.25, visible(3, last - first, key.shape[2]))
        assert_close(out[first:last], from_heads(exact.out, "TND"), from_heads(exact.terms, "TND"))
        logarithm = (exact.largest + np.log(exact.total))[0].T
        assert_close(lse[first:last, :, 0], logarithm, np.maximum(np.abs(logarithm), 4))


def test_padding_on_the_left(device: int) -> None:
    """Queries 7 - 1 - 4 to 7 - 1, keys 19 - 2 - 8 to 19 - 2; masks speak of places in memory."""
    mask = np.random.default_rng(3).random((7, 19)) < 0.3
    call = fused(
        "BSND", FLOAT16, actualSeqLengthsOptional=[4], actualSeqLengthsKvOptional=[8], attenMaskOptional=mask, preTokens=0, nextTokens=0
    )
    call = call.but(queryPaddingSizeOptional=np.array([1]), kvPaddingSizeOptional=np.array([2]))
    query, key = np.mgrid[:7, :19]
    seen = (query >= 2) & (query < 6) & (key >= 9) & (key < 17) & ~mask
    assert_right(call, golden(call, seen))
    one = fused("BSND", FLOAT16, ONE, actualSeqLengthsKvOptional=[8], kvPaddingSizeOptional=np.array([-3]))
    assert_right(one, golden(one, np.arange(19) >= 11))
    outside = one.but(kvPaddingSizeOptional=np.array([12]))
    assert not outside.results()[0].any()
    without = one.but(actualSeqLengthsKvOptional=None)
    assert_right(without, golden(without))


@pytest.mark.parametrize("queries", [SEVERAL, ONE], ids=["several", "one"])
def test_shared_prefixes(queries: Lengths, device: int) -> None:
    prefixes = [numbers((1, 2, 9, 16), BF16, seed) for seed in (8, 9)]
    call = fused("BNSD", BF16, queries, keySharedPrefixOptional=prefixes[0], valueSharedPrefixOptional=prefixes[1])
    call = call.but(actualSharedPrefixLenOptional=[6], actualSeqLengthsKvOptional=[19, 4])
    sides = [
        np.concatenate([np.repeat(prefix[:, :, :6], 2, axis=0), call.arguments[name][0]], axis=2).astype(np.float64)
        for prefix, name in zip(prefixes, ("key", "value"), strict=True)
    ]
    seen = np.arange(25) < np.array([25, 10])[:, None, None, None]
    assert_right(call, golden(call, seen, *sides))
    if queries is SEVERAL:
        causal = call.but(attenMaskOptional=TRIANGLE, sparseMode=3, actualSharedPrefixLenOptional=None, actualSeqLengthsKvOptional=None)
        longer = [
            np.concatenate([np.repeat(prefix, 2, axis=0), call.arguments[name][0]], axis=2).astype(np.float64)
            for prefix, name in zip(prefixes, ("key", "value"), strict=True)
        ]
        assert_right(causal, golden(causal, visible(3, 7, 28), *longer))


def scale_of(row: Row, shape: tuple[str, ...], dtype: Any, seed: int, pages: int = 0) -> Array:
    """Scales in one of the shapes of a table."""
    sizes = {"1": 1, "2": 2, "B": 2, "N": 2, "D": 16, "H": 32, "S": 19 if not row.pages else 0, "P": pages, "bs": 16}
    lengths = tuple(sizes[name] for name in shape)
    return np.random.default_rng(seed).uniform(0.005, 0.03, lengths).astype(dtype if row.like_query else np.float32)


def spread(scale: Array, kind: str) -> Array:
    """Scales, by batch, head, position and feature."""
    exact = scale.astype(np.float64)
    shapes = {"per-tensor": (1, 1, 1, 1), "per-channel": (1, 2, 1, 16), "per-token": (2, 1, 19, 1), "per-head": (1, 2, 1, 1)}
    return exact.reshape(shapes.get(kind, (2, 2, 19, 1)))


ROWS = [(row, shape) for row in SCALINGS if not row.pages for shape in row.shapes]


@pytest.mark.parametrize(("row", "shape"), ROWS, ids=[f"{row.mode} {row.kind} {shape}" for row, shape in ROWS])
@pytest.mark.parametrize("offset", [False, True], ids=["symmetric", "with offset"])
def test_scales_of_keys_and_values(row: Row, shape: tuple[str, ...], offset: bool, device: int) -> None:
    """A number stands for the sum of itself and the offset, times the scale."""
    stored = [whole((2, 2, 19, 16), seed) for seed in (10, 11)]
    call = fused("BNSD", BF16, ONE, key=[stored[0]], value=[stored[1]], keyAntiquantMode=row.mode, valueAntiquantMode=row.mode)
    sides = []
    for index, name in enumerate(("key", "value")):
        scale = scale_of(row, shape, BF16, index)
        shift = (scale_of(row, shape, BF16, index + 5) * 300).astype(scale.dtype)
        call = call.but(**{f"{name}AntiquantScaleOptional": scale})
        number = stored[index].astype(np.float64)
        if offset:
            call = call.but(**{f"{name}AntiquantOffsetOptional": shift})
            number = number + spread(shift, row.kind)
        sides.append(number * spread(scale, row.kind))
    assert_right(call, golden(call, True, *sides))


@pytest.mark.parametrize("row", [row for row in SCALINGS if row.pages], ids=lambda row: f"{row.mode} {row.kind}")
def test_scales_in_pages(row: Row, device: int) -> None:
    arguments, _ = in_pages(16, [20, 5], FLOAT16, "BnNBsD")
    table = arguments["blockTableOptional"]
    call = fused("BNSD", FLOAT16, ONE, **arguments, keyAntiquantMode=row.mode, valueAntiquantMode=row.mode)
    sides = []
    for index, name in enumerate(("key", "value")):
        cache = whole((5, 2, 16, 16), index)
        scale = scale_of(row, row.shapes[0], FLOAT16, index, pages=5)
        call = call.but(**{name: [cache], f"{name}AntiquantScaleOptional": scale})
        scaled = cache * (scale[:, None, :, None] if scale.ndim == 2 else scale[..., None]).astype(np.float64)
        sides.append(np.stack([np.concatenate([scaled[page] for page in rows[:2]], axis=1) for rows in table]))
    seen = np.arange(32) < np.array([20, 5])[:, None, None, None]
    assert_right(call, golden(call, seen, *sides))


def test_scales_per_channel_of_keys_and_per_token_of_values(device: int) -> None:
    stored = [whole((2, 2, 19, 16), seed) for seed in (10, 11)]
    scales = [numbers((1, 2, 16), FLOAT16, 1, 0.02), numbers((1, 2, 19), np.float32, 2, 0.02)]
    call = fused("BNSD", FLOAT16, ONE, key=[stored[0]], value=[stored[1]], valueAntiquantMode=1)
    call = call.but(keyAntiquantScaleOptional=scales[0], valueAntiquantScaleOptional=scales[1])
    sides = stored[0] * spread(scales[0], "per-channel"), stored[1] * spread(scales[1], "per-token")
    assert_right(call, golden(call, True, *sides))


@pytest.mark.parametrize(("row", "shape"), [(row, shape) for row in MERGED for shape in row.shapes], ids=str)
@pytest.mark.parametrize("queries", [SEVERAL, ONE], ids=["several", "one"])
def test_scales_of_both(row: Row, shape: tuple[str, ...], queries: Lengths, device: int) -> None:
    stored = [whole((2, 2, 19, 16), seed) for seed in (10, 11)]
    scale, shift = (scale_of(row, shape, FLOAT16, seed) for seed in (1, 2))
    call = fused("BNSD", FLOAT16, queries, key=[stored[0]], value=[stored[1]], antiquantMode=row.mode)
    call = call.but(antiquantScaleOptional=scale, antiquantOffsetOptional=shift)
    sides = [(stored[half] + spread(shift[half], row.kind)) * spread(scale[half], row.kind) for half in (0, 1)]
    assert_right(call, golden(call, True, *sides))


def test_packed_int4(device: int) -> None:
    """Eight in each INT32, the lowest bits first."""
    sides, packed = [], []
    for seed in (10, 11):
        small = np.random.default_rng(seed).integers(-8, 8, (2, 2, 19, 16))
        nibbles = (small & 15).reshape(2, 2, 19, 2, 8).astype(np.uint32) << (4 * np.arange(8, dtype=np.uint32))
        packed.append(np.bitwise_or.reduce(nibbles, axis=-1).view(np.int32))
        sides.append(small)
    scales = [numbers((1, 2, 16), BF16, seed, 0.2) for seed in (1, 2)]
    call = fused(
        "BNSD", BF16, ONE, key=[packed[0]], value=[packed[1]], keyAntiquantScaleOptional=scales[0], valueAntiquantScaleOptional=scales[1]
    )
    exact = [side * spread(scale, "per-channel") for side, scale in zip(sides, scales, strict=True)]
    assert_right(call, golden(call, True, *exact))


def test_int4(device: int) -> None:
    """The same bytes as tensors of INT4: two in each, the lower half first."""
    words = [np.random.default_rng(seed).integers(-(2**31), 2**31, (2, 2, 19, 2), np.int32) for seed in (1, 2)]
    scales = [numbers((1, 2, 16), BF16, seed, 0.2) for seed in (1, 2)]
    call = fused(
        "BNSD", BF16, ONE, key=[words[0]], value=[words[1]], keyAntiquantScaleOptional=scales[0], valueAntiquantScaleOptional=scales[1]
    )
    nibbles = [
        np.stack([(array.view(np.uint8) & 15), array.view(np.uint8) >> 4], axis=-1).reshape(2, 2, 19, 16).astype(np.int64)
        for array in words
    ]
    exact = [((array ^ 8) - 8) * spread(scale, "per-channel") for array, scale in zip(nibbles, scales, strict=True)]
    expected = golden(call, True, *exact)
    assert_right(call, expected)
    with ExitStack() as stack:
        placed: dict[str, Placed] = {}
        arguments = call._arguments(stack, placed, 0)
        for place, name in ((1, "key[0]"), (2, "value[0]")):
            shape = (2, 2, 19, 16)
            tensor = acl.aclCreateTensor(shape, acl.ACL_INT4, None, 0, acl.ACL_FORMAT_ND, shape, placed[name].address)
            arguments[place] = acl.aclCreateTensorList([tensor])
            stack.callback(acl.aclDestroyTensorList, arguments[place])
        size, executor, status = call.declared.get_workspace_size(*arguments)
        assert status == 0, message()
        assert call.declared.run(call._workspace(size, stack), size, executor, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        out = placed["attentionOut"].result()
    assert_close(out, from_heads(expected.out, "BNSD"), from_heads(expected.terms, "BNSD"))


def int8_call(row: Quantised) -> Case:
    """A call with the scales that it needs."""
    scales = {
        "deqScale1Optional": np.array([0.0005], np.float32),
        "quantScale1Optional": np.array([127.0], np.float32),
        "deqScale2Optional": np.array([0.0007], np.float32).view(np.uint32).astype(np.uint64),
        "quantScale2Optional": np.array([20.0], np.float32),
    }
    call = fused("BNSD", FLOAT16)
    if row.query:
        query, key, value = (whole(call.arguments["query"].shape, 1), whole((2, 2, 19, 16), 2), whole((2, 2, 19, 16), 3))
        call = call.but(query=query, key=[key], value=[value])
    if row.out:
        call = call.but(attentionOut=np.zeros((2, 6, 7, 16), np.int8))
    return call.but(**{f"{name}Optional": scales[f"{name}Optional"] for name in row.needs})


@pytest.mark.parametrize("row", QUANTISED, ids=[f"query {row.query}, out {row.out}" for row in QUANTISED])
def test_int8_in_and_out(row: Quantised, device: int) -> None:
    """Weights are rounded to INT8 below the maximum so far: half a step of them and one of the output is what may be lost."""
    call = int8_call(row)
    exact = golden(call.but(scaleValue=0.25 * (0.0005 if row.query else 1)))
    wanted = exact.out * (0.0007 * 127 if row.query else 1)
    lost = (np.abs(to_heads(call.arguments["value"][0], "BNSD", 2)).max() * 0.0007 * 19 / 2 if row.query else 1e-2) / exact.total[..., None]
    out = call.results()[0].astype(np.float64)
    if row.out:
        wanted, lost = np.clip(wanted * 20, -128, 127), lost * 20 + 0.5
    assert (np.abs(out - wanted) <= lost + 1e-3 * np.abs(wanted)).all()


def test_scales_of_the_output_per_channel(device: int) -> None:
    scale, offset = numbers((6, 16), BF16, 1, 10), numbers((6, 16), BF16, 2, 5)
    call = fused("BSND", BF16, attentionOut=np.zeros((2, 7, 6, 16), np.int8), quantScale2Optional=scale, quantOffset2Optional=offset)
    exact = golden(call).out * scale.astype(np.float64)[:, None] + offset.astype(np.float64)[:, None]
    out = call.results()[0].transpose(0, 2, 1, 3)
    assert (np.abs(out - np.clip(exact, -128, 127)) <= 0.501).all()


def test_a_growing_sequence_costs_no_new_programs(device: int) -> None:
    """Lengths up to the next multiple of 64 share what was lowered for one of them."""
    call = fused("BNSD", FLOAT16, ONE, KEYS._replace(positions=200))
    call.but(actualSeqLengthsKvOptional=[130]).results()
    before = nest_for.cache_info().misses
    for length in range(131, 140):
        call.but(actualSeqLengthsKvOptional=[length]).results()
    assert nest_for.cache_info().misses == before


def test_an_output_in_the_place_of_the_query(device: int) -> None:
    call = fused("BNSD", FLOAT16)
    expected = golden(call)
    with ExitStack() as stack:
        placed: dict[str, Placed] = {}
        arguments = call._arguments(stack, placed, 0)
        names = [name for name, _ in call.declared.parameters]
        arguments[names.index("attentionOut")] = arguments[names.index("query")]
        size, executor, status = call.declared.get_workspace_size(*arguments)
        assert status == 0, message()
        assert call.declared.run(call._workspace(size, stack), size, executor, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        out = placed["query"].result()
    assert_close(out, from_heads(expected.out, "BNSD"), from_heads(expected.terms, "BNSD"))


def test_no_keys(device: int) -> None:
    call = fused("BNSD", FLOAT16, keys=KEYS._replace(positions=0))
    assert not call.results()[0].any()


def test_no_queries(device: int) -> None:
    call = fused("BNSD", FLOAT16, SEVERAL._replace(positions=0))
    assert call.plan() == (0, 0)


def test_the_logarithm_is_left_alone_where_it_is_not_wanted(device: int) -> None:
    before = numbers((3,), np.float32, 5)
    assert (fused("BNSD", FLOAT16, softmaxLse=before).results()[1] == before).all()


INVALID, REFUSED = ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_TILING_ERROR
STORED = Meta((2, 2, 19, 16), np.int8)
INT8_KEYS: dict[str, Any] = {"key": [STORED], "value": [STORED]}
PAGES: dict[str, Any] = {
    "key": [Meta((8, 2, 128, 16), np.float16)],
    "value": [Meta((8, 2, 128, 16), np.float16)],
    "blockTableOptional": Meta((2, 3), np.int32),
    "blockSize": 128,
    "actualSeqLengthsKvOptional": [300, 5],
}
PREFIXES: dict[str, Any] = {name: Meta((1, 2, 9, 16), np.float16) for name in ("keySharedPrefixOptional", "valueSharedPrefixOptional")}
SCALES: dict[str, Any] = {f"{name}AntiquantScaleOptional": Meta((2, 16), BF16) for name in ("key", "value")}
ERRORS: list[tuple[str, dict[str, Any], int]] = [
    *((f"{name} null", {name: None}, ACLNN_ERR_PARAM_NULLPTR) for name in ("query", "key", "value", "attentionOut", "inputLayout")),
    ("query of a wrong type", {"query": Meta((2, 6, 7, 16), np.float32)}, INVALID),
    ("key of a wrong type", {"key": [Meta((2, 2, 19, 16), np.float32)]}, INVALID),
    ("value of a wrong type", {"value": [Meta((2, 2, 19, 16), np.float32)]}, INVALID),
    ("pseShift of a wrong type", {"pseShiftOptional": Meta((2, 6, 7, 19), np.float32)}, INVALID),
    ("attenMask of a wrong type", {"attenMaskOptional": Meta((7, 19), np.float16)}, INVALID),
    ("attentionOut of a wrong type", {"attentionOut": Meta((2, 6, 7, 16), np.float32)}, INVALID),
    ("layout", {"inputLayout": "SBH"}, REFUSED),
    ("rank of query", {"query": Meta((2, 6, 112), np.float16)}, REFUSED),
    ("numHeads", {"numHeads": 3}, REFUSED),
    ("numHeads 0", {"numHeads": 0}, REFUSED),
    ("numKeyValueHeads", {"numKeyValueHeads": 4}, REFUSED),
    ("numKeyValueHeads of other keys", {"numKeyValueHeads": 3}, REFUSED),
    ("features of key", {"key": [Meta((2, 2, 19, 8), np.float16)], "value": [Meta((2, 2, 19, 8), np.float16)]}, REFUSED),
    ("shape of value", {"value": [Meta((2, 2, 18, 16), np.float16)]}, REFUSED),
    ("batch of key", {"key": [Meta((3, 2, 19, 16), np.float16)], "value": [Meta((3, 2, 19, 16), np.float16)]}, REFUSED),
    ("type of key", {"key": [Meta((2, 2, 19, 16), BF16)], "value": [Meta((2, 2, 19, 16), BF16)]}, REFUSED),
    ("type of value", {"value": [STORED]}, REFUSED),
    ("type of the output", {"attentionOut": Meta((2, 6, 7, 16), BF16)}, REFUSED),
    ("shape of the output", {"attentionOut": Meta((2, 6, 7, 8), np.float16)}, REFUSED),
    ("number of members", {"key": [Meta((1, 2, 19, 16), np.float16)] * 2}, REFUSED),
    ("members with a batch", {name: [Meta((2, 2, 19, 16), np.float16)] * 2 for name in ("key", "value")}, REFUSED),
    ("a length beyond the keys", {"actualSeqLengthsKvOptional": [20]}, REFUSED),
    ("a negative length", {"actualSeqLengthsOptional": [-1, 3]}, REFUSED),
    *((f"sparseMode {mode}", {"sparseMode": mode}, REFUSED) for mode in (-1, 5, 6, 7, 8)),
    *((f"no mask in sparseMode {mode}", {"sparseMode": mode}, REFUSED) for mode in (1, 2, 3, 4)),
    *(
        (f"a small mask in sparseMode {mode}", {"sparseMode": mode, "attenMaskOptional": Meta((7, 19), np.bool_)}, REFUSED)
        for mode in (2, 3, 4)
    ),
    ("a short mask", {"attenMaskOptional": Meta((7, 18), np.bool_)}, REFUSED),
    ("a mask for each head", {"attenMaskOptional": Meta((2, 6, 7, 19), np.bool_)}, REFUSED),
    ("heads of the position encoding", {"pseShiftOptional": Meta((1, 1, 7, 19), np.float16)}, REFUSED),
    ("length of the position encoding", {"pseShiftOptional": Meta((1, 6, 7, 18), np.float16)}, REFUSED),
    ("type of the position encoding", {"pseShiftOptional": Meta((1, 6, 7, 19), BF16)}, REFUSED),
    ("shape of the logarithm", {"softmaxLseFlag": True, "softmaxLse": Meta((2, 6, 7), np.float32)}, REFUSED),
    *((f"blockSize {size}", {**PAGES, "blockSize": size}, REFUSED) for size in (0, 64, 640, 129)),
    ("pages without lengths", {**PAGES, "actualSeqLengthsKvOptional": None}, REFUSED),
    ("rows of the table", {**PAGES, "blockTableOptional": Meta((1, 3), np.int32)}, REFUSED),
    ("columns of the table", {**PAGES, "blockTableOptional": Meta((2, 2), np.int32)}, REFUSED),
    ("rank of the table", {**PAGES, "blockTableOptional": Meta((6,), np.int32)}, REFUSED),
    (
        "too few pages",
        {
            **PAGES,
            "actualSeqLengthsKvOptional": [300, 384],
            "key": [Meta((5, 2, 128, 16), np.float16)],
            "value": [Meta((5, 2, 128, 16), np.float16)],
        },
        REFUSED,
    ),
    ("pages and padding", {**PAGES, "kvPaddingSizeOptional": Meta((1,), np.int64)}, REFUSED),
    ("one prefix", {**PREFIXES, "valueSharedPrefixOptional": None}, REFUSED),
    ("prefixes and pages", {**PREFIXES, **PAGES}, REFUSED),
    ("prefixes of two batches", {name: Meta((2, 2, 9, 16), np.float16) for name in PREFIXES}, REFUSED),
    ("prefixes of another type", {name: Meta((1, 2, 9, 16), BF16) for name in PREFIXES}, REFUSED),
    ("length of prefixes", {**PREFIXES, "actualSharedPrefixLenOptional": [10]}, REFUSED),
    ("INT8 keys without scales", INT8_KEYS, REFUSED),
    ("one scale", {**INT8_KEYS, **SCALES, "valueAntiquantScaleOptional": None}, REFUSED),
    ("shape of scales", {**INT8_KEYS, "antiquantScaleOptional": Meta((3,), np.float16)}, REFUSED),
    ("type of scales", {**INT8_KEYS, "antiquantScaleOptional": Meta((2,), BF16)}, REFUSED),
    (
        "shape of offsets",
        {**INT8_KEYS, "antiquantScaleOptional": Meta((2,), np.float16), "antiquantOffsetOptional": Meta((2, 32), np.float16)},
        REFUSED,
    ),
    ("a half type with scales apart", {**INT8_KEYS, **SCALES}, REFUSED),
    ("modes that differ", {**INT8_KEYS, **SCALES, "valueAntiquantMode": 1}, REFUSED),
    ("a mode for one query", {**INT8_KEYS, **SCALES, "valueAntiquantMode": 2, "keyAntiquantMode": 2}, REFUSED),
    *((f"{name} with halves", {f"{name}Optional": Meta((1,), np.float32)}, REFUSED) for name in ("deqScale1", "quantScale1", "deqScale2")),
    ("INT8 out without a scale", {"attentionOut": Meta((2, 6, 7, 16), np.int8)}, REFUSED),
    ("size of the output's scale", {"attentionOut": Meta((2, 6, 7, 16), np.int8), "quantScale2Optional": Meta((16,), np.float32)}, REFUSED),
    ("type of the output's scale", {"attentionOut": Meta((2, 6, 7, 16), np.int8), "quantScale2Optional": Meta((1,), BF16)}, REFUSED),
    (
        "an empty scale",
        {"query": Meta((2, 6, 7, 16), np.int8), **INT8_KEYS, **{f"{name}Optional": Meta((0,), np.float32) for name in QUANTISED[1].needs}},
        REFUSED,
    ),
    ("INT8 in without scales", {"query": Meta((2, 6, 7, 16), np.int8), **INT8_KEYS}, REFUSED),
]


@pytest.mark.parametrize("error", ERRORS, ids=[error[0] for error in ERRORS])
def test_errors(error: tuple[str, dict[str, Any], int]) -> None:
    _, changes, status = error
    assert fused("BNSD", FLOAT16).but(**changes).status() == status, message()


@pytest.mark.parametrize(("mode", "tokens"), [(0, (2, -1)), (0, (-20, 30)), (3, (0, 0)), (4, (3, 0))])
def test_offsets_of_the_output_need_keys(mode: int, tokens: tuple[int, int]) -> None:
    """A query that sees none would give 0 and not the offset."""
    keys = KEYS._replace(positions=5 if mode >= 3 else 19)
    mask = Meta((7, 19) if mode == 0 else (2048, 2048), np.bool_)
    one = Meta((1,), np.float32)
    call = fused("BNSD", FLOAT16, keys=keys, attentionOut=Meta((2, 6, 7, 16), np.int8), quantScale2Optional=one, sparseMode=mode)
    call = call.but(attenMaskOptional=mask, preTokens=tokens[0], nextTokens=tokens[1])
    assert call.status() == 0, message()
    assert call.but(quantOffset2Optional=one).status() == REFUSED


def test_number_of_lengths(device: int) -> None:
    """One for all, or one for each sequence and perhaps more; none are as good as null."""
    call = fused("BNSD", FLOAT16, SEVERAL._replace(batch=3), KEYS._replace(batch=3))
    for lengths, status in (([], 0), ([5], 0), ([5, 6], REFUSED), ([5, 6, 7], 0), ([5, 6, 7, 99], 0)):
        for name in ("actualSeqLengthsOptional", "actualSeqLengthsKvOptional"):
            assert call.but(**{name: lengths}).status() == status, (name, lengths)
    assert_right(call.but(actualSeqLengthsOptional=[], actualSeqLengthsKvOptional=[]), golden(call))


HALF_OF_BOTH: dict[str, Any] = {**INT8_KEYS, "antiquantScaleOptional": Meta((2,), BF16)}
BF16_ERRORS: list[tuple[str, dict[str, Any], int]] = [
    ("scales apart", {**INT8_KEYS, **SCALES}, 0),
    ("scales of both", HALF_OF_BOTH, REFUSED),
    ("modes that differ", {**INT8_KEYS, **SCALES, "valueAntiquantMode": 1}, REFUSED),
    ("a mode for one query", {**INT8_KEYS, **SCALES, "valueAntiquantMode": 2, "keyAntiquantMode": 2}, REFUSED),
    (
        "INT8 out",
        {**INT8_KEYS, **SCALES, "attentionOut": Meta((2, 6, 7, 16), np.int8), "quantScale2Optional": Meta((1,), np.float32)},
        REFUSED,
    ),
    ("a list of keys", {"key": [Meta((1, 2, 19, 16), np.int8)] * 2, "value": [Meta((1, 2, 19, 16), np.int8)] * 2, **SCALES}, REFUSED),
]


@pytest.mark.parametrize("error", BF16_ERRORS, ids=[error[0] for error in BF16_ERRORS])
def test_scales_with_several_queries(error: tuple[str, dict[str, Any], int]) -> None:
    _, changes, status = error
    assert fused("BNSD", BF16).but(**changes).status() == status, message()


def test_int8_out_of_sequences_behind_each_other() -> None:
    lengths = {"actualSeqLengthsOptional": [3, 7], "actualSeqLengthsKvOptional": [4, 9]}
    scale = {"attentionOut": Meta((7, 6, 16), np.int8), "quantScale2Optional": Meta((1,), np.float32)}
    assert fused("TND", FLOAT16, Lengths(1, 6, 7, 16), Lengths(1, 2, 9, 16), **lengths, **scale).status() == REFUSED


def test_int8_out_of_a_band() -> None:
    scale = {"attentionOut": Meta((2, 6, 7, 16), np.int8), "quantScale2Optional": Meta((1,), np.float32)}
    call = fused("BNSD", FLOAT16, sparseMode=4, attenMaskOptional=Meta((2048, 2048), np.bool_), preTokens=3, nextTokens=3, **scale)
    assert call.status() == 0, message()
    assert call.but(nextTokens=-1).status() == REFUSED


def test_ends_of_sequences() -> None:
    call = fused(
        "TND", FLOAT16, Lengths(1, 6, 7, 16), Lengths(1, 2, 9, 16), actualSeqLengthsOptional=[3, 7], actualSeqLengthsKvOptional=[4, 9]
    )
    assert call.status() == 0, message()
    for name, values in (("", [3, 5]), ("", [5, 3, 7]), ("", None), ("Kv", [9]), ("Kv", [4, 8])):
        assert call.but(**{f"actualSeqLengths{name}Optional": values}).status() == REFUSED, (name, values)


def test_products(chip: Any) -> None:
    assert products_of(fused("BNSD", FLOAT16), chip) == {"A3", "A2"}
