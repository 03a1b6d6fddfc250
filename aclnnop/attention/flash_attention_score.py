"""aclnnFlashAttentionScore and its relatives: attention for training, with what its gradient needs."""

from collections.abc import Iterator
from dataclasses import replace

from acl_emu.spec import Double, Example, Int, Plan, operator
from aclnnop.attention.training import (
    PRODUCTS,
    AttenMask,
    BFloats,
    BFloatsOut,
    DropMask,
    Floats,
    FloatsOut,
    Inputs,
    Layout,
    Numbers,
    OptionalBFloats,
    OptionalFloats,
    Packed,
    StatisticLayout,
    StatisticOut,
    Unused,
    UnusedOut,
    attention,
    check_ropes,
)
from aclnnop.attention.training_examples import (
    dense_calls,
    packed_calls,
    packed_layout_calls,
    packed_rope_calls,
    packed_shifted_calls,
    shifted_calls,
)


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


@operator(products=PRODUCTS)
def aclnnFlashAttentionScoreV2(
    query: Floats,
    key: Floats,
    value: Floats,
    realShiftOptional: OptionalFloats,
    dropMaskOptional: DropMask,
    paddingMaskOptional: Unused,
    attenMaskOptional: AttenMask,
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
    softmaxMaxOut: StatisticOut,
    softmaxSumOut: StatisticOut,
    softmaxOutOut: UnusedOut,
    attentionOutOut: FloatsOut,
) -> Plan:
    """The same with position encodings of four kinds: ``pseType``."""
    given = Inputs(
        *(query, key, value, realShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        shift_type=pseType,
        starts=(qStartIdxOptional, kvStartIdxOptional),
    )
    return attention(given, softmaxMaxOut, softmaxSumOut, attentionOutOut)


@operator(products=PRODUCTS)
def aclnnFlashAttentionVarLenScore(
    query: Floats,
    key: Floats,
    value: Floats,
    realShiftOptional: OptionalFloats,
    dropMaskOptional: DropMask,
    paddingMaskOptional: Unused,
    attenMaskOptional: AttenMask,
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
    softmaxMaxOut: StatisticOut,
    softmaxSumOut: StatisticOut,
    softmaxOutOut: UnusedOut,
    attentionOutOut: FloatsOut,
) -> Plan:
    """The same for sequences of several lengths that follow each other."""
    given = Inputs(
        *(query, key, value, realShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
    )
    return attention(given, softmaxMaxOut, softmaxSumOut, attentionOutOut, statistics="NS")


@operator(products=PRODUCTS)
def aclnnFlashAttentionVarLenScoreV2(
    query: Floats,
    key: Floats,
    value: Floats,
    realShiftOptional: OptionalFloats,
    dropMaskOptional: DropMask,
    paddingMaskOptional: Unused,
    attenMaskOptional: AttenMask,
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
    softmaxMaxOut: StatisticOut,
    softmaxSumOut: StatisticOut,
    softmaxOutOut: UnusedOut,
    attentionOutOut: FloatsOut,
) -> Plan:
    """The same with position encodings of four kinds."""
    given = Inputs(
        *(query, key, value, realShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
        shift_type=pseType,
        starts=(qStartIdxOptional, kvStartIdxOptional),
    )
    return attention(given, softmaxMaxOut, softmaxSumOut, attentionOutOut, statistics="NS")


@operator(products=PRODUCTS)
def aclnnFlashAttentionVarLenScoreV3(
    query: BFloats,
    queryRope: OptionalBFloats,
    key: BFloats,
    keyRope: OptionalBFloats,
    value: BFloats,
    realShiftOptional: OptionalFloats,
    dropMaskOptional: DropMask,
    paddingMaskOptional: Unused,
    attenMaskOptional: AttenMask,
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
    softmaxMaxOut: StatisticOut,
    softmaxSumOut: StatisticOut,
    softmaxOutOut: UnusedOut,
    attentionOutOut: BFloatsOut,
) -> Plan:
    """The same with features of queries and keys in two tensors each."""
    given = Inputs(
        *(query, key, value, realShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
        shift_type=pseType,
        starts=(qStartIdxOptional, kvStartIdxOptional),
    )
    given = replace(given, ropes=check_ropes(given, queryRope, keyRope))
    return attention(given, softmaxMaxOut, softmaxSumOut, attentionOutOut, statistics="NS")


@operator(products=PRODUCTS)
def aclnnFlashAttentionVarLenScoreV4(
    query: Floats,
    key: Floats,
    value: Floats,
    realShiftOptional: OptionalFloats,
    dropMaskOptional: DropMask,
    paddingMaskOptional: Unused,
    attenMaskOptional: AttenMask,
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
    softmaxOutLayout: StatisticLayout,
    softmaxMaxOut: StatisticOut,
    softmaxSumOut: StatisticOut,
    softmaxOutOut: UnusedOut,
    attentionOutOut: FloatsOut,
) -> Plan:
    """The first one, with maximum and sum in an order that ``softmaxOutLayout`` chooses."""
    given = Inputs(
        *(query, key, value, realShiftOptional, dropMaskOptional, attenMaskOptional, prefixOptional),
        *(scaleValue, keepProb, preTokens, nextTokens, headNum, inputLayout, sparseMode),
        packed=(actualSeqQLenOptional, actualSeqKvLenOptional),
    )
    return attention(given, softmaxMaxOut, softmaxSumOut, attentionOutOut, statistics="SN" if softmaxOutLayout else "NS")


@aclnnFlashAttentionScore.example
def examples() -> Iterator[Example]:
    """Each layout, with what can come along: position encodings, masks, dropping."""
    yield from dense_calls()


aclnnFlashAttentionScoreV2.example(shifted_calls)
aclnnFlashAttentionVarLenScore.example(packed_calls)
aclnnFlashAttentionVarLenScoreV2.example(packed_shifted_calls)
aclnnFlashAttentionVarLenScoreV3.example(packed_rope_calls)
aclnnFlashAttentionVarLenScoreV4.example(packed_layout_calls)
