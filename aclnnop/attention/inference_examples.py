"""Examples of attention for inference."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT16, INT8, DType
from acl_emu.spec import Example, between, numbers
from aclnnop.attention.heads import Lengths, shape_in

OPTIONAL = (
    "pseShiftOptional",
    "attenMaskOptional",
    "actualSeqLengthsOptional",
    "actualSeqLengthsKvOptional",
    "deqScale1Optional",
    "quantScale1Optional",
    "deqScale2Optional",
    "quantScale2Optional",
    "quantOffset2Optional",
    "antiquantScaleOptional",
    "antiquantOffsetOptional",
    "blockTableOptional",
    "queryPaddingSizeOptional",
    "kvPaddingSizeOptional",
    "keyAntiquantScaleOptional",
    "keyAntiquantOffsetOptional",
    "valueAntiquantScaleOptional",
    "valueAntiquantOffsetOptional",
    "keySharedPrefixOptional",
    "valueSharedPrefixOptional",
    "actualSharedPrefixLenOptional",
    "softmaxLse",
)


def fused(layout: str, dtype: DType, queries: Lengths, keys: Lengths, *, stored: DType | None = None, **changes: Any) -> Example:
    """A call with one tensor of keys and one of values."""
    inputs, _, outputs = layout.partition("_")
    shape = shape_in(inputs, keys)
    kind = stored or dtype
    drawn = [between(-20, 20, shape, kind, seed) if kind is INT8 else numbers(shape, kind, seed) for seed in (2, 3)]
    return {
        **dict.fromkeys(OPTIONAL),
        "query": numbers(shape_in(inputs, queries), dtype, 1),
        "key": [drawn[0]],
        "value": [drawn[1]],
        "numHeads": queries.heads,
        "scaleValue": 0.25,
        "preTokens": 65535,
        "nextTokens": 65535,
        "inputLayout": layout,
        "numKeyValueHeads": keys.heads,
        "sparseMode": 0,
        "innerPrecise": 0,
        "blockSize": 0,
        "antiquantMode": 0,
        "softmaxLseFlag": False,
        "keyAntiquantMode": 0,
        "valueAntiquantMode": 0,
        "attentionOut": np.zeros(shape_in(outputs or inputs, queries), dtype.numpy),
        **changes,
    }


def stripped(call: Example, *dropped: str, **renamed: str) -> Example:
    """The call of an operator whose parameters lack the word Optional, and some of which are missing or have other names."""
    plain = {name.removesuffix("Optional"): value for name, value in call.items()}
    return {renamed.get(name, name): value for name, value in plain.items() if name not in dropped}


SEVERAL, KEYS, ONE = Lengths(2, 4, 9, 16), Lengths(2, 2, 21, 16), Lengths(2, 4, 1, 16)
APART = tuple(f"{side}Antiquant{word}" for side in ("key", "value") for word in ("Scale", "Offset", "Mode"))
PREFIXES = ("keySharedPrefix", "valueSharedPrefix", "actualSharedPrefixLen")
CACHED = ("blockTable", "queryPaddingSize", "kvPaddingSize", "blockSize", "antiquantMode", "antiquantScale", "antiquantOffset")
QUANTISED = ("deqScale1", "quantScale1", "deqScale2", "quantScale2", "quantOffset2")
LOGARITHM = ("softmaxLseFlag", "softmaxLse")


def first_fused_calls() -> Iterator[Example]:
    """Many queries and one, keys in a list, in pages, as INT8."""
    for call in fused_calls():
        if call["keyAntiquantScaleOptional"] is None:
            yield stripped(call, *APART, *PREFIXES)
    scales = between(0.01, 0.1, (2, 2, 16), BF16, 3)
    yield stripped(fused("BNSD", BF16, ONE, KEYS, stored=INT8, antiquantScaleOptional=scales), *APART, *PREFIXES)


def rope_calls() -> Iterator[Example]:
    """As the second version, and with ropes: in pages, and for sequences behind each other."""
    none = dict.fromkeys(("queryRopeOptional", "keyRopeOptional", "keyRopeAntiquantScaleOptional"))
    yield from ({**call, **none} for call in fused_calls())
    yield {**fused("BSND_NBSD", FLOAT16, SEVERAL, KEYS), **none}
    queries, keys = Lengths(1, 4, 7, 128), Lengths(1, 2, 11, 128)
    ends: Example = {"actualSeqLengthsOptional": [3, 7], "actualSeqLengthsKvOptional": [5, 11]}
    ropes = {"queryRopeOptional": numbers((4, 7, 64), BF16, 4), "keyRopeOptional": numbers((2, 11, 64), BF16, 5)}
    yield {**fused("NTD_TND", BF16, queries, keys, **ends), **none, **ropes}
    pages = numbers((3, 16, 512), FLOAT16, 6)
    in_pages: Example = {"blockTableOptional": np.array([[2, 0], [1, 0]], np.int32), "blockSize": 16, "actualSeqLengthsKvOptional": [20, 7]}
    latent = Lengths(2, 4, 1, 512)
    call = fused("BSH", FLOAT16, latent, latent._replace(heads=1), **in_pages) | {"key": [pages], "value": [pages]}
    yield {**call, **none, "queryRopeOptional": numbers((2, 1, 256), FLOAT16, 7), "keyRopeOptional": numbers((3, 16, 64), FLOAT16, 8)}


def newest_calls() -> Iterator[Example]:
    """As the third version, with a sink, with the mask of a tree, with INT8 queries of latent attention."""
    none = {"dequantScaleQueryOptional": None, "learnableSinkOptional": None, "queryQuantMode": 0}
    calls = [{**call, **none} for call in rope_calls()]
    in_pages = next(call for call in calls if call["blockTableOptional"] is not None)
    latent = calls[-1]
    yield from calls
    plain = {**calls[0], "pseShiftOptional": None}
    yield {**plain, "learnableSinkOptional": numbers((4,), FLOAT16, 9)}
    yield {**plain, "sparseMode": 9, "attenMaskOptional": between(0, 2, (2, 9, 9), np.bool_, 4)}
    yield {**in_pages, "blockSize": 16}
    pages = {name: [between(-20, 20, (3, 1, 16, 128, 32), INT8, 5)] for name in ("key", "value")}
    ropes = {"queryRopeOptional": numbers((2, 1, 256), BF16, 6), "keyRopeOptional": numbers((3, 1, 4, 128, 16), BF16, 7, 0.1)}
    scales = {f"{name}AntiquantScaleOptional": np.array([0.01], np.float32) for name in ("key", "value")}
    small = {"query": between(-20, 20, (2, 1, 2048), INT8, 8), "dequantScaleQueryOptional": between(0.01, 0.02, (2, 1, 4), np.float32, 9)}
    lengths: Example = {"blockSize": 128, "actualSeqLengthsKvOptional": [140, 7], "queryQuantMode": 3}
    yield {**latent, **pages, **ropes, **scales, **small, **lengths, "attentionOut": np.zeros((2, 1, 2048), BF16.numpy)}


def prompt(*arguments: Any, **changes: Any) -> Example:
    """A call of the second operator for prompts."""
    call = stripped(fused(*arguments, **changes), *APART, *PREFIXES, *CACHED, *LOGARITHM, "innerPrecise")
    return {**call, "key": call["key"][0], "value": call["value"][0]}


def prompt_calls() -> Iterator[Example]:
    """With a mask and without."""
    for changes in ({}, {"attenMaskOptional": between(0, 2, (9, 21), np.bool_, 4)}):
        call = prompt("BSH", FLOAT16, SEVERAL, KEYS, **changes)
        yield {name: value for name, value in call.items() if name not in (*QUANTISED, "actualSeqLengthsKv", "sparseMode")}


def second_prompt_calls() -> Iterator[Example]:
    """With a mask, with a position encoding, with INT8 out."""
    yield prompt("BNSD_BSND", BF16, SEVERAL, KEYS, attenMaskOptional=between(0, 2, (1, 9, 21), np.int8, 4), sparseMode=1)
    yield prompt("BSND", FLOAT16, SEVERAL, KEYS, pseShiftOptional=numbers((1, 4, 9, 21), FLOAT16, 5), actualSeqLengthsKvOptional=[21, 6])
    out = prompt("BNSD", FLOAT16, SEVERAL, KEYS, quantScale2Optional=np.array([30], np.float32))
    yield {**out, "attentionOut": np.zeros((2, 4, 9, 16), np.int8)}


def third_prompt_calls() -> Iterator[Example]:
    """As the second version, with a choice of precision."""
    yield from ({**call, "innerPrecise": 1} for call in second_prompt_calls())


def one_query(*arguments: Any, **changes: Any) -> Example:
    """A call of the last operator for one query; its lengths are those of keys."""
    dropped = (
        *APART,
        *PREFIXES,
        *LOGARITHM,
        "actualSeqLengths",
        "queryPaddingSize",
        "preTokens",
        "nextTokens",
        "sparseMode",
        "antiquantMode",
    )
    names = {"actualSeqLengthsKv": "actualSeqLengths", "deqScale1": "dequantScale1", "deqScale2": "dequantScale2"}
    return stripped(fused(*arguments, **changes), *dropped, **names, blockTable="blocktable")


def fourth_one_query_calls() -> Iterator[Example]:
    """Keys in one tensor, in a list, INT8 out, in pages, as INT8, with padding."""
    for call in fused_calls():
        if call["query"].shape[-2 if call["inputLayout"] == "BNSD" else 1] == 1 and call["keyAntiquantScaleOptional"] is None:
            yield one_query(
                call["inputLayout"], FLOAT16, ONE, KEYS, **{name: value for name, value in call.items() if name != "inputLayout"}
            )
    out = one_query(
        "BSND", FLOAT16, ONE, KEYS, quantScale2Optional=np.array([30], np.float32), quantOffset2Optional=np.array([3], np.float32)
    )
    yield {**out, "attentionOut": np.zeros((2, 1, 4, 16), np.int8)}
    yield one_query("BNSD", BF16, ONE, KEYS, stored=INT8, antiquantScaleOptional=between(0.01, 0.1, (2, 2, 1, 16), BF16, 3))
    yield one_query("BNSD", BF16, ONE, KEYS, actualSeqLengthsKvOptional=[5, 9], kvPaddingSizeOptional=np.array([2]))


def third_one_query_calls() -> Iterator[Example]:
    """Those without padding."""
    for call in fourth_one_query_calls():
        if call.pop("kvPaddingSize") is None:
            yield call


def second_one_query_calls() -> Iterator[Example]:
    """Those without pages and INT8 keys."""
    missing = ("antiquantScale", "antiquantOffset", "blocktable")
    for call in third_one_query_calls():
        if all(call.pop(name) is None for name in missing):
            yield {name: value for name, value in call.items() if name not in ("blockSize", "innerPrecise", *missing)}


def one_query_calls() -> Iterator[Example]:
    """Those with the output in the type of the query."""
    scales = ("dequantScale1", "quantScale1", "dequantScale2", "quantScale2", "quantOffset2")
    for call in second_one_query_calls():
        if call["quantScale2"] is None:
            yield {name: value for name, value in call.items() if name not in scales}


def for_310p(call: Example) -> Example:
    """A call without what the smaller chip leaves out."""
    rows = 9 if "preTokens" in call else 1
    stored = numbers((2, 4, 21, 16), FLOAT16, 2)
    listed = isinstance(call["key"], list)
    nothing = dict.fromkeys(("attenMask", "pseShift", "actualSeqLengths", "actualSeqLengthsKv", "quantScale2", "quantOffset2"))
    limits = {"preTokens": 2147483647, "nextTokens": 0, "sparseMode": 0}
    changes = {
        **nothing,
        **limits,
        "query": numbers((2, 4, rows, 16), FLOAT16, 1),
        "key": [stored] if listed else stored,
        "value": [stored] if listed else stored,
        "attentionOut": np.zeros((2, 4, rows, 16), np.float16),
        "inputLayout": "BNSD",
        "numKeyValueHeads": 0,
    }
    return {**call, **{name: value for name, value in changes.items() if name in call}}


def fused_calls() -> Iterator[Example]:
    """Many queries and ONE, KEYS in a list, in pages, as INT8."""
    mask = between(0, 2, (2, 1, 9, 21), np.bool_, 4)
    yield fused("BSND", FLOAT16, SEVERAL, KEYS, pseShiftOptional=numbers((1, 4, 9, 21), FLOAT16, 5))
    yield fused(
        "BNSD_BSND", BF16, SEVERAL, KEYS, attenMaskOptional=mask, softmaxLseFlag=True, softmaxLse=np.zeros((2, 4, 9, 1), np.float32)
    )
    listed = [[numbers((1, length, 32), FLOAT16, seed + length) for length in (21, 13)] for seed in (6, 7)]
    yield fused("BSH", FLOAT16, ONE, KEYS, actualSeqLengthsKvOptional=[20, 5]) | {"key": listed[0], "value": listed[1]}
    pages = [numbers((4, 2, 16, 16), BF16, seed) for seed in (8, 9)]
    table = np.array([[2, 0], [3, 1]], np.int32)
    in_pages: Example = {"blockTableOptional": table, "blockSize": 16, "actualSeqLengthsKvOptional": [30, 17]}
    yield fused("BNSD", BF16, ONE, KEYS, **in_pages) | {"key": [pages[0]], "value": [pages[1]]}
    scales = {f"{name}AntiquantScaleOptional": between(0.01, 0.1, (1, 2, 16), BF16, seed) for seed, name in enumerate(("key", "value"))}
    yield fused("BNSD", BF16, ONE, KEYS, stored=INT8, **scales)
