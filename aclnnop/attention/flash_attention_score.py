"""aclnnFlashAttentionScore and its relatives: attention for training, with what its gradient needs."""

from collections.abc import Iterator

from acl_emu.spec import Double, Example, Int, Plan, operator
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
    StatisticOut,
    Unused,
    UnusedOut,
    attention,
)
from aclnnop.attention.training_examples import dense_calls


@operator(products=PRODUCTS)
def aclnnFlashAttentionScore(
    query: Floats,
    key: Floats,
    value: Floats,
    realShiftOptional: OptionalFloats,
    dropMaskOptional: DropMask,
    paddingMaskOptional: Unused,
    attenMaskOptional: AttenMask,
    prefixOptional: Numbers,
    scaleValue: Double,
    keepProb: Double,
    preTokens: Int,
    nextTokens: Int,
    headNum: Int,
    inputLayout: Layout,
    innerPrecise: Int,
    sparseMode: Int,
    softmaxMaxOut: StatisticOut,
    softmaxSumOut: StatisticOut,
    softmaxOutOut: UnusedOut,
    attentionOutOut: FloatsOut,
) -> Plan:
    """Weigh ``value`` by the softmax of the scaled products of ``query`` and ``key``, masked and thinned out."""
    given = Inputs(
        *(query, key, value, realShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
    )
    return attention(given, softmaxMaxOut, softmaxSumOut, attentionOutOut)


@aclnnFlashAttentionScore.example
def examples() -> Iterator[Example]:
    """Each layout, with what can come along: position encodings, masks, dropping."""
    yield from dense_calls()
