"""aclnnTopKTopPSampleV2: a token drawn from the likeliest ones of each row, or these with their chances."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import Array, Bool, Double, Example, In, Int, Operand, Out, Plan, between, direct, numbers, operator, shape_is
from aclnnop.index.sampling import MOST_KEPT, check_rows, likeliest
from aclnnop.math.reduction import FLOATS, NEWER


@operator(products=NEWER)
def aclnnTopKTopPSampleV2(
    logits: Annotated[Operand, In(*FLOATS, rank=2)],
    topK: Annotated[Operand, In(INT32, rank=1)],
    topP: Annotated[Operand, In(*FLOATS, rank=1)],
    q: Annotated[Operand | None, In(FLOAT, rank=2, optional=True)],
    minPs: Annotated[Operand | None, In(*FLOATS, rank=(1, 2), optional=True)],
    eps: Double,
    isNeedLogits: Bool,
    topKGuess: Int,
    ksMax: Int,
    inputIsLogits: Bool,
    isNeedSampleResult: Bool,
    logitsSelectIdx: Annotated[Operand, Out(INT64, const=True)],
    logitsTopKPSelect: Annotated[Operand, Out(FLOAT, const=True)],
    logitsIdx: Annotated[Operand, Out(INT64, const=True)],
    logitsSortMasked: Annotated[Operand, Out(FLOAT, const=True)],
) -> Plan:
    """Draw a token from the ``topK`` likeliest of each row that reach ``topP``, or give them and their chances (``isNeedSampleResult``)."""
    check_rows(logits, topK, topP, q, minPs)
    if not isNeedSampleResult:
        shape_is(logitsSelectIdx, logits.shape[:1], "a token for each row of logits")
    wanted = [
        logitsSelectIdx if not isNeedSampleResult else None,
        logitsTopKPSelect if isNeedLogits else None,
        logitsIdx if isNeedSampleResult else None,
        logitsSortMasked if isNeedSampleResult else None,
    ]
    for out in filter(None, wanted[1:]):
        shape_is(out, logits.shape, "as logits")
    return direct(
        draw,
        reads=(logits, topK, topP, q, minPs),
        writes=wanted,
        scratch={},
        eps=eps,
        most=min(-(-ksMax // 8) * 8, MOST_KEPT),
        is_logits=inputIsLogits,
    )


@aclnnTopKTopPSampleV2.example
def examples() -> Iterator[Example]:
    """A token of logits, and the chances that are left of probabilities."""
    for dtype, draws in ((FLOAT16, True), (FLOAT, False), (BF16, True)):
        chances = between(0.01, 1, (4, 9), dtype, 1)
        yield {
            "logits": numbers((4, 9), dtype, 1, 2) if draws else (chances / chances.sum(axis=1, keepdims=True)).astype(dtype.numpy),
            "topK": np.array([3, 0, 5, 2000], np.int32),
            "topP": np.array([0.5, 0.75, 1.0, 1.0]).astype(dtype.numpy),
            "q": between(0.1, 3, (4, 9), FLOAT, 2) if draws else None,
            "minPs": None if dtype is BF16 else np.array([0.25, 0.0, 1.0, 0.5]).astype(dtype.numpy),
            "eps": 1e-8,
            "isNeedLogits": dtype is not BF16,
            "topKGuess": 32,
            "ksMax": 1024,
            "inputIsLogits": draws,
            "isNeedSampleResult": not draws,
            "logitsSelectIdx": numbers((4,), INT64, 3),
            "logitsTopKPSelect": numbers((4, 9), FLOAT, 4),
            "logitsIdx": numbers((4, 9), INT64, 5),
            "logitsSortMasked": numbers((4, 9), FLOAT, 6),
        }


def draw(
    logits: Array,
    top_k: Array,
    top_p: Array,
    q: Array | None,
    min_ps: Array | None,
    tokens: Array | None,
    left: Array | None,
    places: Array | None,
    chances: Array | None,
    *,
    eps: float,
    most: int,
    is_logits: bool,
) -> None:
    """Logits that are not left are negative infinity, probabilities 0; so are places and chances that are not left."""
    kept = likeliest(logits, top_k, top_p, min_ps, most=most, normalised=not is_logits)
    if tokens is not None:
        tokens[...] = kept.taken(q, eps)
    if left is not None:
        left[...] = np.where(kept.in_place(), logits.astype(np.float32), -np.inf if is_logits else 0)
    if places is not None and chances is not None:
        places[...] = np.where(kept.mask, kept.places, 0)
        chances[...] = np.where(kept.mask, kept.chances, 0)
