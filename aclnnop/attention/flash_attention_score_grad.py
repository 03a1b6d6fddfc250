"""aclnnFlashAttentionScoreGrad and its relatives: the gradients of query, key and value."""

from collections.abc import Iterator
from dataclasses import replace

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
    OptionalBFloats,
    OptionalBFloatsOut,
    OptionalFloats,
    OptionalStatistic,
    Packed,
    StatisticLayout,
    Unused,
    UnusedOut,
    check_ropes,
    gradient,
    rope_outputs,
)
from aclnnop.attention.training_examples import (
    backwards,
    dense_calls,
    packed_calls,
    packed_layout_calls,
    packed_rope_calls,
    packed_shifted_calls,
    shifted_calls,
)


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


@operator(products=PRODUCTS)
def aclnnFlashAttentionScoreGradV2(
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
    qStartIdxOptional: Numbers,
    kvStartIdxOptional: Numbers,
    scaleValue: Double,
    keepProb: Double,
    preTokens: Int,
    nextTokens: Int,
    headNum: Int,
    inputLayout: Layout,
    innerPrecise: Int,
    sparseMode: Int,
    pseType: Int,
    dqOut: FloatsOut,
    dkOut: FloatsOut,
    dvOut: FloatsOut,
    dpseOut: UnusedOut,
) -> Plan:
    """The same with position encodings of four kinds: ``pseType``."""
    given = Inputs(
        *(query, keyIn, value, pseShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        shift_type=pseType,
        starts=(qStartIdxOptional, kvStartIdxOptional),
    )
    statistics = softmaxMaxOptional, softmaxSumOptional
    return gradient(given, dy, statistics, attentionInOptional, (dqOut, dkOut, dvOut))


@operator(products=PRODUCTS)
def aclnnFlashAttentionUnpaddingScoreGrad(
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
    actualSeqQLenOptional: Numbers,
    actualSeqKvLenOptional: Numbers,
    scaleValue: Double,
    keepProb: Double,
    preTokens: Int,
    nextTokens: Int,
    headNum: Int,
    inputLayout: Packed,
    innerPrecise: Int,
    sparseMode: Int,
    dqOut: FloatsOut,
    dkOut: FloatsOut,
    dvOut: FloatsOut,
    dpseOut: UnusedOut,
) -> Plan:
    """The same for sequences of several lengths that follow each other."""
    given = Inputs(
        *(query, keyIn, value, pseShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
    )
    statistics = softmaxMaxOptional, softmaxSumOptional
    return gradient(given, dy, statistics, attentionInOptional, (dqOut, dkOut, dvOut), axes="NS")


@operator(products=PRODUCTS)
def aclnnFlashAttentionUnpaddingScoreGradV2(
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
    actualSeqQLenOptional: Numbers,
    actualSeqKvLenOptional: Numbers,
    qStartIdxOptional: Numbers,
    kvStartIdxOptional: Numbers,
    scaleValue: Double,
    keepProb: Double,
    preTokens: Int,
    nextTokens: Int,
    headNum: Int,
    inputLayout: Packed,
    innerPrecise: Int,
    sparseMode: Int,
    pseType: Int,
    dqOut: FloatsOut,
    dkOut: FloatsOut,
    dvOut: FloatsOut,
    dpseOut: UnusedOut,
) -> Plan:
    """The same with position encodings of four kinds."""
    given = Inputs(
        *(query, keyIn, value, pseShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
        shift_type=pseType,
        starts=(qStartIdxOptional, kvStartIdxOptional),
    )
    statistics = softmaxMaxOptional, softmaxSumOptional
    return gradient(given, dy, statistics, attentionInOptional, (dqOut, dkOut, dvOut), axes="NS")


@operator(products=PRODUCTS)
def aclnnFlashAttentionUnpaddingScoreGradV3(
    query: Floats,
    queryRope: OptionalBFloats,
    keyIn: Floats,
    keyInRope: OptionalBFloats,
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
    actualSeqQLenOptional: Numbers,
    actualSeqKvLenOptional: Numbers,
    qStartIdxOptional: Numbers,
    kvStartIdxOptional: Numbers,
    scaleValue: Double,
    keepProb: Double,
    preTokens: Int,
    nextTokens: Int,
    headNum: Int,
    inputLayout: Packed,
    innerPrecise: Int,
    sparseMode: Int,
    pseType: Int,
    dqOut: FloatsOut,
    dqRopeOut: OptionalBFloatsOut,
    dkOut: FloatsOut,
    dkRopeOut: OptionalBFloatsOut,
    dvOut: FloatsOut,
    dpseOut: UnusedOut,
) -> Plan:
    """The same with features of queries and keys in two tensors each."""
    given = Inputs(
        *(query, keyIn, value, pseShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
        shift_type=pseType,
        starts=(qStartIdxOptional, kvStartIdxOptional),
    )
    statistics = softmaxMaxOptional, softmaxSumOptional
    given = replace(given, ropes=check_ropes(given, queryRope, keyInRope))
    ropes = rope_outputs(given, dqRopeOut, dkRopeOut)
    return gradient(given, dy, statistics, attentionInOptional, (dqOut, dkOut, dvOut), ropes, axes="NS")


@operator(products=PRODUCTS)
def aclnnFlashAttentionUnpaddingScoreGradV4(
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
    actualSeqQLenOptional: Numbers,
    actualSeqKvLenOptional: Numbers,
    scaleValue: Double,
    keepProb: Double,
    preTokens: Int,
    nextTokens: Int,
    headNum: Int,
    inputLayout: Packed,
    innerPrecise: Int,
    sparseMode: Int,
    dqOut: FloatsOut,
    dkOut: FloatsOut,
    dvOut: FloatsOut,
    dpseOut: UnusedOut,
    softmaxInLayout: StatisticLayout,
) -> Plan:
    """The first one, with maximum and sum in an order that ``softmaxInLayout`` chooses."""
    given = Inputs(
        *(query, keyIn, value, pseShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
    )
    statistics = softmaxMaxOptional, softmaxSumOptional
    return gradient(given, dy, statistics, attentionInOptional, (dqOut, dkOut, dvOut), axes="SN" if softmaxInLayout else "NS")


@aclnnFlashAttentionScoreGrad.example
def examples() -> Iterator[Example]:
    """Each layout, with what can come along."""
    yield from map(backwards, dense_calls())


aclnnFlashAttentionScoreGradV2.example(lambda: map(backwards, shifted_calls()))
aclnnFlashAttentionUnpaddingScoreGrad.example(lambda: map(backwards, packed_calls()))
aclnnFlashAttentionUnpaddingScoreGradV2.example(lambda: map(backwards, packed_shifted_calls()))
aclnnFlashAttentionUnpaddingScoreGradV3.example(lambda: map(backwards, packed_rope_calls()))
aclnnFlashAttentionUnpaddingScoreGradV4.example(lambda: map(backwards, packed_layout_calls()))
