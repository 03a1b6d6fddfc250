"""aclnnFlashAttentionScoreGrad and its relatives: the gradients of query, key and value."""

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
    OptionalStatistic,
    Unused,
    UnusedOut,
    gradient,
)
from aclnnop.attention.training_examples import backwards, dense_calls


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


@aclnnFlashAttentionScoreGrad.example
def examples() -> Iterator[Example]:
    """Each layout, with what can come along."""
    yield from map(backwards, dense_calls())
