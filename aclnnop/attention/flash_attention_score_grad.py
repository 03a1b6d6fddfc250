"""aclnnFlashAttentionScoreGrad and its relatives: the gradients of query, key and value."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import Double, Example, Int, Plan, between, numbers, operator
from aclnnop.attention.flash_attention_score import KEYS, SIZES, causal, dense
from aclnnop.attention.training import (
    PRODUCTS,
    AttenMask,
    DropMask,
    Floats,
    FloatsOut,
    Inputs,
    Layout,
    Numbers,
    OptionalFloats,
    OptionalStatistic,
    Unused,
    UnusedOut,
    gradient,
)
from aclnnop.attention.visibility import Sparse


@operator(products=PRODUCTS)
def aclnnFlashAttentionScoreGrad(
    query: Floats,
    keyIn: Floats,
    value: Floats,
    dy: Floats,
    pseShiftOptional: OptionalFloats,
    dropMaskOptional: DropMask,
    paddingMaskOptional: Unused,
    attenMaskOptional: AttenMask,
    softmaxMaxOptional: OptionalStatistic,
    softmaxSumOptional: OptionalStatistic,
    softmaxInOptional: Unused,
    attentionInOptional: OptionalFloats,
    prefixOptional: Numbers,
    scaleValue: Double,
    keepProb: Double,
    preTokens: Int,
    nextTokens: Int,
    headNum: Int,
    inputLayout: Layout,
    innerPrecise: Int,
    sparseMode: Int,
    dqOut: FloatsOut,
    dkOut: FloatsOut,
    dvOut: FloatsOut,
    dpseOut: UnusedOut,
) -> Plan:
    """Propagate ``dy`` to ``query``, ``keyIn`` and ``value``."""
    given = Inputs(
        *(query, keyIn, value, pseShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
    )
    return gradient(given, dy, (softmaxMaxOptional, softmaxSumOptional), attentionInOptional, (dqOut, dkOut, dvOut))


def backwards(forward: Example, dtype: DType) -> Example:
    """The call of the backward pass that belongs to one of the forward pass; maximum and sum are such that no weight is above 1."""
    given = {
        {"key": "keyIn", "realShiftOptional": "pseShiftOptional"}.get(name, name): value
        for name, value in forward.items()
        if not name.endswith("Out")
    }
    shape = forward["attentionOutOut"].shape
    rows = forward["softmaxMaxOut"].shape
    return {
        **given,
        "dy": numbers(shape, dtype, 11),
        "softmaxMaxOptional": np.full(rows, 8, np.float32),
        "softmaxSumOptional": between(1, 9, rows, np.float32, 12),
        "softmaxInOptional": None,
        "attentionInOptional": numbers(shape, dtype, 13),
        "dqOut": np.zeros_like(forward["query"]),
        "dkOut": np.zeros_like(forward["key"]),
        "dvOut": np.zeros_like(forward["value"]),
        "dpseOut": None,
    }


@aclnnFlashAttentionScoreGrad.example
def examples() -> Iterator[Example]:
    """Each layout, with what can come along."""
    shape = (SIZES.batch, SIZES.heads, SIZES.positions, KEYS.positions)
    yield backwards(dense("BSH", FLOAT), FLOAT)
    shifted = {**dense("SBH", FLOAT16), "realShiftOptional": numbers((1, *shape[1:]), FLOAT16, 4)}
    yield backwards(shifted, FLOAT16)
    dropped = between(0, 256, (-(-int(np.prod(shape)) // 8),), np.uint8, 5)
    yield backwards({**dense("BSND", BF16), "dropMaskOptional": dropped, "keepProb": 0.5}, BF16)
    yield backwards(dense("BNSD", FLOAT, Sparse.RIGHT_DOWN_CAUSAL, causal()), FLOAT)
