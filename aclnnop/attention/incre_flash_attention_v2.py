"""aclnnIncreFlashAttentionV2: with INT8 out."""

from collections.abc import Iterator

from acl_emu.spec import Double, Example, Int, Plan, Product, operator
from aclnnop.attention.inference import (
    OLDER,
    ONE_QUERY_LAYOUTS,
    PRODUCTS,
    UNLIMITED,
    Dequantisation,
    Layout,
    Mask,
    Numbers,
    OldAttended,
    OldHalf,
    OldHalves,
    OutQuantisation,
    Quantisation,
    Shift,
    attention,
)
from aclnnop.attention.inference_examples import for_310p, second_one_query_calls
from aclnnop.attention.inference_inputs import Inputs


@operator(products=OLDER)
def aclnnIncreFlashAttentionV2(
    query: OldHalf,
    key: OldHalves,
    value: OldHalves,
    pseShift: Shift,
    attenMask: Mask,
    actualSeqLengths: Numbers,
    dequantScale1: Dequantisation,
    quantScale1: Quantisation,
    dequantScale2: Dequantisation,
    quantScale2: OutQuantisation,
    quantOffset2: OutQuantisation,
    numHeads: Int,
    scaleValue: Double,
    inputLayout: Layout,
    numKeyValueHeads: Int,
    attentionOut: OldAttended,
) -> Plan:
    """Weigh ``value`` by the softmax of the scaled products of ``query`` and ``key``."""
    return attention(
        Inputs(
            query=query,
            key=key,
            value=value,
            shift=pseShift,
            mask=attenMask,
            query_lengths=None,
            key_lengths=actualSeqLengths,
            heads=numHeads,
            scale=scaleValue,
            before=UNLIMITED,
            after=UNLIMITED,
            layout=inputLayout,
            key_heads=numKeyValueHeads,
            mode=0,
            out=attentionOut,
            scales={
                "deqScale1": dequantScale1,
                "quantScale1": quantScale1,
                "deqScale2": dequantScale2,
                "quantScale2": quantScale2,
                "quantOffset2": quantOffset2,
            },
            layouts=ONE_QUERY_LAYOUTS,
            single=True,
        )
    )


@aclnnIncreFlashAttentionV2.example_on(*PRODUCTS)
def examples() -> Iterator[Example]:
    """As the first version, and with INT8 out."""
    yield from second_one_query_calls()


@aclnnIncreFlashAttentionV2.example_on(Product.A310P)
def examples_310p() -> Iterator[Example]:
    """What the smaller chip has, too."""
    yield for_310p(next(second_one_query_calls()))
