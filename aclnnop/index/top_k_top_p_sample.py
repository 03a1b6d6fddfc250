"""aclnnTopKTopPSample: a token drawn from the likeliest ones of each row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import Array, Bool, Double, Example, In, Int, Operand, Out, Plan, Product, between, direct, numbers, operator, shape_is
from aclnnop.index.sampling import check_rows, likeliest

HALVES = (FLOAT16, BF16)


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnTopKTopPSample(
    logits: Annotated[Operand, In(*HALVES, rank=2)],
    topK: Annotated[Operand, In(INT32, rank=1)],
    topP: Annotated[Operand, In(*HALVES, rank=1)],
    q: Annotated[Operand | None, In(FLOAT, rank=2, optional=True)],
    eps: Double,
    isNeedLogits: Bool,
    topKGuess: Int,
    logitsSelectIdx: Annotated[Operand, Out(INT64, const=True)],
    logitsTopKPSelect: Annotated[Operand, Out(FLOAT, const=True)],
) -> Plan:
    """Draw a token from the ``topK`` likeliest of each row that reach the chance ``topP``, with the weights ``q``."""
    check_rows(logits, topK, topP, q)
    shape_is(logitsSelectIdx, logits.shape[:1], "a token for each row of logits")
    if isNeedLogits:
        shape_is(logitsTopKPSelect, logits.shape, "as logits")
    return direct(
        draw,
        reads=(logits, topK, topP, q),
        writes=(logitsSelectIdx, logitsTopKPSelect if isNeedLogits else None),
        scratch={},
        eps=eps,
    )


@aclnnTopKTopPSample.example
def examples() -> Iterator[Example]:
    """With and without weights and logits."""
    for dtype, weighted in ((FLOAT16, True), (BF16, False)):
        yield {
            "logits": numbers((4, 9), dtype, 1, 2),
            "topK": np.array([3, 0, 5, 2000], np.int32),
            "topP": np.array([0.5, 0.75, 1.0, 1.0]).astype(dtype.numpy),
            "q": between(0.1, 3, (4, 9), FLOAT, 2) if weighted else None,
            "eps": 1e-8,
            "isNeedLogits": weighted,
            "topKGuess": 32,
            "logitsSelectIdx": numbers((4,), INT64, 3),
            "logitsTopKPSelect": numbers((4, 9), FLOAT, 4),
        }


def draw(logits: Array, top_k: Array, top_p: Array, q: Array | None, tokens: Array, left: Array | None, *, eps: float) -> None:
    """Logits that are left stay as they are, others are negative infinity."""
    kept = likeliest(logits, top_k, top_p)
    tokens[...] = kept.taken(q, eps)
    if left is not None:
        left[...] = np.where(kept.in_place(), logits.astype(np.float32), -np.inf)
