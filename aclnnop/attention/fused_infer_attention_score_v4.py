"""aclnnFusedInferAttentionScoreV4: with sinks, masks of trees, larger pages, and INT8 queries of latent attention."""

from collections.abc import Iterator

from acl_emu.spec import Bool, Double, Example, Int, Plan, operator
from aclnnop.attention.inference import (
    LAYOUTS_V4,
    PRODUCTS,
    Attended,
    BlockTable,
    Dequantisation,
    Layout,
    Lse,
    Mask,
    Numbers,
    OutQuantisation,
    Padding,
    Prefix,
    Quantisation,
    Query,
    QueryScale,
    Rope,
    Scales,
    Shift,
    Stored,
    Unused,
    attention,
)
from aclnnop.attention.inference_examples import newest_calls
from aclnnop.attention.inference_inputs import Inputs


@operator(products=PRODUCTS)
def aclnnFusedInferAttentionScoreV4(
    query: Query,
    key: Stored,
    value: Stored,
    pseShiftOptional: Shift,
    attenMaskOptional: Mask,
    actualSeqLengthsOptional: Numbers,
    actualSeqLengthsKvOptional: Numbers,
    deqScale1Optional: Dequantisation,
    quantScale1Optional: Quantisation,
    deqScale2Optional: Dequantisation,
    quantScale2Optional: OutQuantisation,
    quantOffset2Optional: OutQuantisation,
    antiquantScaleOptional: Scales,
    antiquantOffsetOptional: Scales,
    blockTableOptional: BlockTable,
    queryPaddingSizeOptional: Padding,
    kvPaddingSizeOptional: Padding,
    keyAntiquantScaleOptional: Scales,
    keyAntiquantOffsetOptional: Scales,
    valueAntiquantScaleOptional: Scales,
    valueAntiquantOffsetOptional: Scales,
    keySharedPrefixOptional: Prefix,
    valueSharedPrefixOptional: Prefix,
    actualSharedPrefixLenOptional: Numbers,
    queryRopeOptional: Rope,
    keyRopeOptional: Rope,
    keyRopeAntiquantScaleOptional: Unused,
    dequantScaleQueryOptional: QueryScale,
    learnableSinkOptional: Rope,
    numHeads: Int,
    scaleValue: Double,
    preTokens: Int,
    nextTokens: Int,
    inputLayout: Layout,
    numKeyValueHeads: Int,
    sparseMode: Int,
    innerPrecise: Int,
    blockSize: Int,
    antiquantMode: Int,
    softmaxLseFlag: Bool,
    keyAntiquantMode: Int,
    valueAntiquantMode: Int,
    queryQuantMode: Int,
    attentionOut: Attended,
    softmaxLse: Lse,
) -> Plan:
    """Weigh ``value`` by the softmax of the scaled products of ``query`` and ``key``."""
    return attention(
        Inputs(
            query=query,
            key=key,
            value=value,
            shift=pseShiftOptional,
            mask=attenMaskOptional,
            query_lengths=actualSeqLengthsOptional,
            key_lengths=actualSeqLengthsKvOptional,
            heads=numHeads,
            scale=scaleValue,
            before=preTokens,
            after=nextTokens,
            layout=inputLayout,
            key_heads=numKeyValueHeads,
            mode=sparseMode,
            out=attentionOut,
            scales={
                "deqScale1": deqScale1Optional,
                "quantScale1": quantScale1Optional,
                "deqScale2": deqScale2Optional,
                "quantScale2": quantScale2Optional,
                "quantOffset2": quantOffset2Optional,
                "antiScale": antiquantScaleOptional,
                "antiOffset": antiquantOffsetOptional,
                "keyScale": keyAntiquantScaleOptional,
                "keyOffset": keyAntiquantOffsetOptional,
                "valueScale": valueAntiquantScaleOptional,
                "valueOffset": valueAntiquantOffsetOptional,
            },
            anti_modes=(antiquantMode, keyAntiquantMode, valueAntiquantMode),
            table=blockTableOptional,
            block_size=blockSize,
            paddings=(queryPaddingSizeOptional, kvPaddingSizeOptional),
            prefixes=(keySharedPrefixOptional, valueSharedPrefixOptional),
            prefix_length=actualSharedPrefixLenOptional,
            lse=softmaxLse if softmaxLseFlag else None,
            ropes=(queryRopeOptional, keyRopeOptional),
            layouts=LAYOUTS_V4,
            newest=True,
            sink=learnableSinkOptional,
            query_scale=dequantScaleQueryOptional,
            query_mode=queryQuantMode,
        )
    )


@aclnnFusedInferAttentionScoreV4.example
def examples() -> Iterator[Example]:
    """As the third version, with a sink, with the mask of a tree."""
    yield from newest_calls()
