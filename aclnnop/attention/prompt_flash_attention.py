"""aclnnPromptFlashAttention: attention of all queries of a prompt."""

from collections.abc import Iterator

from acl_emu.spec import Double, Example, Int, Plan, Product, operator
from aclnnop.attention.inference import OLDER, PRODUCTS, PROMPT_LAYOUTS, Layout, Numbers, OldHalf, OldHalfOut, OldMask, Shift, attention
from aclnnop.attention.inference_examples import for_310p, prompt_calls
from aclnnop.attention.inference_inputs import Inputs


@operator(products=OLDER)
def aclnnPromptFlashAttention(
    query: OldHalf,
    key: OldHalf,
    value: OldHalf,
    pseShift: Shift,
    attenMask: OldMask,
    actualSeqLengths: Numbers,
    numHeads: Int,
    scaleValue: Double,
    preTokens: Int,
    nextTokens: Int,
    inputLayout: Layout,
    numKeyValueHeads: Int,
    attentionOut: OldHalfOut,
) -> Plan:
    """Weigh ``value`` by the softmax of the scaled products of ``query`` and ``key``."""
    return attention(
        Inputs(
            query=query,
            key=[key],
            value=[value],
            shift=None,
            mask=attenMask,
            query_lengths=actualSeqLengths,
            key_lengths=None,
            heads=numHeads,
            scale=scaleValue,
            before=preTokens,
            after=nextTokens,
            layout=inputLayout,
            key_heads=numKeyValueHeads,
            mode=0,
            out=attentionOut,
            scales={},
            layouts=PROMPT_LAYOUTS,
            single=False,
        )
    )


@aclnnPromptFlashAttention.example_on(*PRODUCTS)
def examples() -> Iterator[Example]:
    """With a mask and without."""
    yield from prompt_calls()


@aclnnPromptFlashAttention.example_on(Product.A310P)
def examples_310p() -> Iterator[Example]:
    """What the smaller chip has, too."""
    yield for_310p(next(prompt_calls()))
