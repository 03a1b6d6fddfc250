"""aclnnFusedInferAttentionScore: the first version, without shared prefixes and without scales of keys and values apart."""

from collections.abc import Iterator

from acl_emu.spec import Bool, Double, Example, Int, Plan, operator
from aclnnop.attention.inference import (
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
    Quantisation,
    Query,
    Scales,
    Shift,
    Stored,
    attention,
)
from aclnnop.attention.inference_examples import first_fused_calls
from aclnnop.attention.inference_inputs import Inputs


@operator(products=PRODUCTS)
def aclnnFusedInferAttentionScore(
    query: Query,
    key: Stored,
    value: Stored,
    pseShift: Shift,
    attenMask: Mask,
    actualSeqLengths: Numbers,
    actualSeqLengthsKv: Numbers,
    deqScale1: Dequantisation,
    quantScale1: Quantisation,
    deqScale2: Dequantisation,
    quantScale2: OutQuantisation,
    quantOffset2: OutQuantisation,
    antiquantScale: Scales,
    antiquantOffset: Scales,
    blockTable: BlockTable,
    queryPaddingSize: Padding,
    kvPaddingSize: Padding,
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
    attentionOut: Attended,
    softmaxLse: Lse,
) -> Plan:
    """Weigh ``value`` by the softmax of the scaled products of ``query`` and ``key``."""
    return attention(
        Inputs(
            query=query,
            key=key,
            value=value,
            shift=pseShift,
            mask=attenMask,
            query_lengths=actualSeqLengths,
            key_lengths=actualSeqLengthsKv,
            heads=numHeads,
            scale=scaleValue,
            before=preTokens,
            after=nextTokens,
            layout=inputLayout,
            key_heads=numKeyValueHeads,
            mode=sparseMode,
            out=attentionOut,
            scales={
                "deqScale1": deqScale1,
                "quantScale1": quantScale1,
                "deqScale2": deqScale2,
                "quantScale2": quantScale2,
                "quantOffset2": quantOffset2,
                "antiScale": antiquantScale,
                "antiOffset": antiquantOffset,
            },
            anti_modes=(antiquantMode, 0, 0),
            table=blockTable,
            block_size=blockSize,
            paddings=(queryPaddingSize, kvPaddingSize),
            lse=softmaxLse if softmaxLseFlag else None,
        )
    )


@aclnnFusedInferAttentionScore.example
def examples() -> Iterator[Example]:
    """Many queries and one, keys in a list, in pages, as INT8."""
    yield from first_fused_calls()
