"""aclnnPromptFlashAttentionV3: with a choice of precision, and sequences behind each other."""

from collections.abc import Iterator

from acl_emu.spec import Double, Example, Int, Plan, Product, operator
from aclnnop.attention.inference import (
    OLDER,
    PRODUCTS,
    Dequantisation,
    Layout,
    Numbers,
    OldAttended,
    OldKey,
    OldMask,
    OldQuery,
    OutQuantisation,
    Quantisation,
    Shift,
    attention,
)
from aclnnop.attention.inference_examples import for_310p, third_prompt_calls
from aclnnop.attention.inference_inputs import Inputs


@operator(products=OLDER)
def aclnnPromptFlashAttentionV3(
    query: OldQuery,
    key: OldKey,
    value: OldKey,
    pseShift: Shift,
    attenMask: OldMask,
    actualSeqLengths: Numbers,
    actualSeqLengthsKv: Numbers,
    deqScale1: Dequantisation,
    quantScale1: Quantisation,
    deqScale2: Dequantisation,
    quantScale2: OutQuantisation,
    quantOffset2: OutQuantisation,
    numHeads: Int,
    scaleValue: Double,
    preTokens: Int,
    nextTokens: Int,
    inputLayout: Layout,
    numKeyValueHeads: Int,
    sparseMode: Int,
    innerPrecise: Int,
    attentionOut: OldAttended,
) -> Plan:
    """Weigh ``value`` by the softmax of the scaled products of ``query`` and ``key``."""
    return attention(
        Inputs(
            query=query,
            key=[key],
            value=[value],
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
            },
            single=False,
        )
    )


@aclnnPromptFlashAttentionV3.example_on(*PRODUCTS)
def examples() -> Iterator[Example]:
    """As the second version."""
    yield from third_prompt_calls()


@aclnnPromptFlashAttentionV3.example_on(Product.A310P)
def examples_310p() -> Iterator[Example]:
    """What the smaller chip has, too."""
    yield for_310p(next(third_prompt_calls()))
