"""aclnnIncreFlashAttentionV3: with keys and values in pages, and as INT8."""

from collections.abc import Iterator

from acl_emu.spec import Double, Example, Int, Plan, Product, operator
from aclnnop.attention.inference import (
    OLDER,
    ONE_QUERY_LAYOUTS,
    PRODUCTS,
    UNLIMITED,
    BlockTable,
    Dequantisation,
    Layout,
    Mask,
    Numbers,
    OldAttended,
    OldHalf,
    OldStored,
    OutQuantisation,
    Quantisation,
    Scales,
    Shift,
    attention,
)
from aclnnop.attention.inference_examples import for_310p, third_one_query_calls
from aclnnop.attention.inference_inputs import Inputs


@operator(products=OLDER)
def aclnnIncreFlashAttentionV3(
    query: OldHalf,
    key: OldStored,
    value: OldStored,
    pseShift: Shift,
    attenMask: Mask,
    actualSeqLengths: Numbers,
    dequantScale1: Dequantisation,
    quantScale1: Quantisation,
    dequantScale2: Dequantisation,
    quantScale2: OutQuantisation,
    quantOffset2: OutQuantisation,
    antiquantScale: Scales,
    antiquantOffset: Scales,
    blocktable: BlockTable,
    numHeads: Int,
    scaleValue: Double,
    inputLayout: Layout,
    numKeyValueHeads: Int,
    blockSize: Int,
    innerPrecise: Int,
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
                "antiScale": antiquantScale,
                "antiOffset": antiquantOffset,
            },
            table=blocktable,
            block_size=blockSize,
            layouts=ONE_QUERY_LAYOUTS,
            single=True,
        )
    )


@aclnnIncreFlashAttentionV3.example_on(*PRODUCTS)
def examples() -> Iterator[Example]:
    """As the second version, in pages, as INT8."""
    yield from third_one_query_calls()


@aclnnIncreFlashAttentionV3.example_on(Product.A310P)
def examples_310p() -> Iterator[Example]:
    """What the smaller chip has, too."""
    yield for_310p(next(third_one_query_calls()))
