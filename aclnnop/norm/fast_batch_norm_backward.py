"""aclnnFastBatchNormBackward: gradients of batch normalisation; the version chooses an implementation."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Bool, BoolArrayIn, Double, Example, IntKind, Plan, Product, operator
from aclnnop.norm.batch_norm_backward import examples as plain_examples
from aclnnop.norm.channels import Batch, OptionalBatchOut, OptionalChannel, OptionalChannelOut, batch_norm_gradient
from aclnnop.norm.rows import MASK_CHECKS


@operator(products=frozenset({Product.A2}), checks=MASK_CHECKS)
def aclnnFastBatchNormBackward(
    gradOut: Batch,
    input: Batch,
    weight: OptionalChannel,
    runningMean: OptionalChannel,
    runningVar: OptionalChannel,
    saveMean: OptionalChannel,
    saveInvstd: OptionalChannel,
    training: Bool,
    eps: Double,
    outputMask: BoolArrayIn,
    version: Annotated[int, IntKind("int")],
    gradInput: OptionalBatchOut,
    gradWeight: OptionalChannelOut,
    gradBias: OptionalChannelOut,
) -> Plan:
    """Give those gradients that ``outputMask`` asks for; ``version`` changes no number."""
    running, saved = (runningMean, runningVar), (saveMean, saveInvstd)
    outputs = (gradInput, gradWeight, gradBias)
    return batch_norm_gradient(gradOut, input, weight, running, saved, outputMask, outputs, training=training, eps=eps)


@aclnnFastBatchNormBackward.example
def examples() -> Iterator[Example]:
    """Both versions."""
    for turn, example in enumerate(plain_examples()):
        yield {**example, "version": turn % 2}
