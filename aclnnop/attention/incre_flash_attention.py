"""aclnnIncreFlashAttention: attention of one query in each sequence, with keys and values from a cache."""

from collections.abc import Iterator

from acl_emu.spec import Double, Example, Int, Plan, Product, operator
from aclnnop.attention.inference import (
    OLDER,
    ONE_QUERY_LAYOUTS,
    PRODUCTS,
    UNLIMITED,
    Layout,
    Mask,
    Numbers,
    OldHalf,
    OldHalfOut,
    OldHalves,
    Shift,
    attention,
)
from aclnnop.attention.inference_examples import for_310p, one_query_calls
from aclnnop.attention.inference_inputs import Inputs


@operator(products=OLDER)
def aclnnIncreFlashAttention(
    query: OldHalf,
    key: OldHalves,
    value: OldHalves,
    pseShift: Shift,
    attenMask: Mask,
    actualSeqLengths: Numbers,
    numHeads: Int,
    scaleValue: Double,
    inputLayout: Layout,
    numKeyValueHeads: Int,
    attentionOut: OldHalfOut,
) -> Plan:
    """Weigh ``value`` by the softmax of the scaled products of ``query`` and ``key``."""
    return attention(
        Inputs(
            query=query,
            key=key,
            value=value,
            shift=None,
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
            scales={},
            layouts=ONE_QUERY_LAYOUTS,
            single=True,
        )
    )


@aclnnIncreFlashAttention.example_on(*PRODUCTS)
def examples() -> Iterator[Example]:
    """Keys in one tensor, and in a list."""
    yield from one_query_calls()


@aclnnIncreFlashAttention.example_on(Product.A310P)
def examples_310p() -> Iterator[Example]:
    """What the smaller chip has, too."""
    yield for_310p(next(one_query_calls()))
