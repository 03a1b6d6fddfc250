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


def fused_calls() -> Iterator[Example]:
    """Many queries and one, keys in a list, in pages, as INT8."""
    several, keys, one = Lengths(2, 4, 9, 16), Lengths(2, 2, 21, 16), Lengths(2, 4, 1, 16)
    mask = between(0, 2, (2, 1, 9, 21), np.bool_, 4)
    yield fused("BSND", FLOAT16, several, keys, pseShiftOptional=numbers((1, 4, 9, 21), FLOAT16, 5))
    yield fused(
        "BNSD_BSND", BF16, several, keys, attenMaskOptional=mask, softmaxLseFlag=True, softmaxLse=np.zeros((2, 4, 9, 1), np.float32)
    )
    listed = [[numbers((1, length, 32), FLOAT16, seed + length) for length in (21, 13)] for seed in (6, 7)]
    yield fused("BSH", FLOAT16, one, keys, actualSeqLengthsKvOptional=[20, 5]) | {"key": listed[0], "value": listed[1]}
    pages = [numbers((4, 2, 16, 16), BF16, seed) for seed in (8, 9)]
    table = np.array([[2, 0], [3, 1]], np.int32)
    in_pages: Example = {"blockTableOptional": table, "blockSize": 16, "actualSeqLengthsKvOptional": [30, 17]}
    yield fused("BNSD", BF16, one, keys, **in_pages) | {"key": [pages[0]], "value": [pages[1]]}
    scales = {f"{name}AntiquantScaleOptional": between(0.01, 0.1, (1, 2, 16), BF16, seed) for seed, name in enumerate(("key", "value"))}
    yield fused("BNSD", BF16, one, keys, stored=INT8, **scales)
