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


def shifted_calls() -> Iterator[Example]:
    """Position encodings of each kind."""
    square = SIZES._replace(heads=KEYS.heads)
    none = {"qStartIdxOptional": None, "kvStartIdxOptional": None}
    given = numbers((1, SIZES.heads, SIZES.positions, KEYS.positions), FLOAT, 4)
    for kind in (0, 1):
        yield {**dense("BNSD", FLOAT), **none, "realShiftOptional": given, "pseType": kind}
    for kind, dtype in ((2, FLOAT16), (3, BF16)):
        call = dense("BSND", dtype, queries=square, keys=square)
        starts = {"qStartIdxOptional": [3], "kvStartIdxOptional": [1]}
        yield {**call, **starts, "realShiftOptional": between(0.1, 0.5, (square.heads,), FLOAT, 5), "pseType": kind}


ENDS, KEY_ENDS = [9, 9, 21], [5, 12, 33]


def packed(dtype: DType, mode: int = 0, mask: Any = None) -> Example:
    """A call with three sequences behind each other; one has no queries."""
    queries, keys = (Lengths(1, heads, ends[-1], 16) for heads, ends in ((4, ENDS), (2, KEY_ENDS)))
    rows = np.zeros((queries.positions, queries.heads, COPIES), np.float32)
    ends = {"actualSeqQLenOptional": ENDS, "actualSeqKvLenOptional": KEY_ENDS}
    return {**dense("TND", dtype, mode, mask, queries=queries, keys=keys), **ends, "softmaxMaxOut": rows, "softmaxSumOut": rows.copy()}


def packed_calls() -> Iterator[Example]:
    """With a position encoding of all scores, with dropping, with a mask."""
    scores = sum(
        4 * (end - start) * (stop - first) for start, end, first, stop in zip([0, *ENDS], ENDS, [0, *KEY_ENDS], KEY_ENDS, strict=False)
    )
    yield {**packed(FLOAT), "realShiftOptional": numbers((scores,), FLOAT, 4)}
    yield {**packed(FLOAT16), "dropMaskOptional": between(0, 256, (-(-scores // 8),), np.uint8, 5), "keepProb": 0.5}
    yield packed(BF16, mask=between(0, 2, (12, 21), np.bool_, 6))


def packed_shifted_calls() -> Iterator[Example]:
    """Position encodings that are given, and that are made of slopes."""
    none = {"qStartIdxOptional": None, "kvStartIdxOptional": None}
    yield {**next(packed_calls()), **none, "pseType": 0}
    square = {**packed(BF16), **none, "pseType": 2, "actualSeqQLenOptional": KEY_ENDS}
    lengths = Lengths(1, 4, KEY_ENDS[-1], 16)
    shape = shape_in("TND", lengths)
    rows = np.zeros((lengths.positions, lengths.heads, COPIES), np.float32)
    square |= {"query": numbers(shape, BF16, 7), "attentionOutOut": np.zeros(shape, BF16.numpy)}
    square |= {"softmaxMaxOut": rows, "softmaxSumOut": rows.copy()}
    yield {**square, "realShiftOptional": between(0.1, 0.5, (3, 4), FLOAT, 5)}


def packed_rope_calls() -> Iterator[Example]:
    """More features of queries and keys."""
    mask = between(0, 2, (12, 21), np.bool_, 6)
    ropes = {"queryRope": numbers((ENDS[-1], 4, 8), BF16, 8), "keyRope": numbers((KEY_ENDS[-1], 2, 8), BF16, 9)}
    yield {**packed(BF16, mask=mask), **ropes, "qStartIdxOptional": None, "kvStartIdxOptional": None, "pseType": 1}


def packed_layout_calls() -> Iterator[Example]:
    """Maximum and sum in both orders."""
    for order in ("", "same_as_input"):
        yield {**packed(FLOAT16), "softmaxOutLayout": order}


BACKWARD_NAMES = {"key": "keyIn", "keyRope": "keyInRope", "realShiftOptional": "pseShiftOptional", "softmaxOutLayout": "softmaxInLayout"}


def backwards(forward: Example) -> Example:
    """The call of the backward pass that belongs to one of the forward pass; maximum and sum are such that no weight is above 1."""
    given = {BACKWARD_NAMES.get(name, name): value for name, value in forward.items() if not name.endswith("Out")}
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
        **{name: np.zeros_like(forward[rope]) for name, rope in (("dqRopeOut", "queryRope"), ("dkRopeOut", "keyRope")) if rope in forward},
    }
