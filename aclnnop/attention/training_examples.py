"""Examples of attention for training."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import Example, between, numbers
from aclnnop.attention.heads import Lengths, shape_in
from aclnnop.attention.training import COPIES
from aclnnop.attention.visibility import TRIANGLE, Sparse

SIZES = Lengths(2, 4, 33, 16)
KEYS = Lengths(2, 2, 47, 16)


def causal() -> np.ndarray[Any, np.dtype[np.bool_]]:
    """A compressed mask."""
    return np.triu(np.ones((TRIANGLE, TRIANGLE), np.bool_), 1)


def dense(layout: str, dtype: DType, mode: int = 0, mask: Any = None, *, queries: Lengths = SIZES, keys: Lengths = KEYS) -> Example:
    """A call of the forward pass."""
    rows = (*queries[:3], COPIES)
    shape = shape_in(layout, queries)
    return {
        "query": numbers(shape, dtype, 1),
        "key": numbers(shape_in(layout, keys), dtype, 2),
        "value": numbers(shape_in(layout, keys), dtype, 3),
        "realShiftOptional": None,
        "dropMaskOptional": None,
        "paddingMaskOptional": None,
        "attenMaskOptional": mask,
        "prefixOptional": None,
        "scaleValue": 0.25,
        "keepProb": 1.0,
        "preTokens": 65536,
        "nextTokens": 65536,
        "headNum": queries.heads,
        "inputLayout": layout,
        "innerPrecise": 0,
        "sparseMode": mode,
        "softmaxMaxOut": np.zeros(rows, np.float32),
        "softmaxSumOut": np.zeros(rows, np.float32),
        "softmaxOutOut": None,
        "attentionOutOut": np.zeros(shape, dtype.numpy),
    }


def dense_calls() -> Iterator[Example]:
    """Each layout, with what can come along: position encodings, masks, dropping."""
    shape = (SIZES.batch, SIZES.heads, SIZES.positions, KEYS.positions)
    yield dense("BSH", FLOAT)
    yield {**dense("SBH", FLOAT16), "realShiftOptional": numbers((1, *shape[1:]), FLOAT16, 4)}
    dropped = between(0, 256, (-(-int(np.prod(shape)) // 8),), np.uint8, 5)
    yield {**dense("BSND", BF16, mask=between(0, 2, (shape[0], 1, *shape[2:]), np.uint8, 6)), "dropMaskOptional": dropped, "keepProb": 0.5}
    yield {**dense("BNSD", FLOAT, Sparse.BAND, causal()), "preTokens": 9, "nextTokens": 3}


def backwards(forward: Example) -> Example:
    """The call of the backward pass that belongs to one of the forward pass; maximum and sum are such that no weight is above 1."""
    given = {
        {"key": "keyIn", "realShiftOptional": "pseShiftOptional"}.get(name, name): value
        for name, value in forward.items()
        if not name.endswith("Out")
    }
    out = forward["attentionOutOut"]
    rows = forward["softmaxMaxOut"].shape
    return {
        **given,
        "dy": numbers(out.shape, out.dtype, 11),
        "softmaxMaxOptional": np.full(rows, 8, np.float32),
        "softmaxSumOptional": between(1, 9, rows, np.float32, 12),
        "softmaxInOptional": None,
        "attentionInOptional": numbers(out.shape, out.dtype, 13),
        "dqOut": np.zeros_like(forward["query"]),
        "dkOut": np.zeros_like(forward["key"]),
        "dvOut": np.zeros_like(forward["value"]),
        "dpseOut": None,
    }
