"""aclnnBatchNorm: channels with mean 0 and standard deviation 1, scaled and shifted; running statistics follow in place."""

from collections.abc import Iterator

from acl_emu.spec import ALL, Bool, Double, Example, Plan, Product, operator
from aclnnop.norm.channels import Batch, BatchOut, ChannelOut, OptionalChannel, Running, batch_norm, channel_examples


@operator(products=ALL - {Product.A310B})
def aclnnBatchNorm(
    input: Batch,
    weight: OptionalChannel,
    bias: OptionalChannel,
    runningMean: Running,
    runningVar: Running,
    training: Bool,
    momentum: Double,
    eps: Double,
    output: BatchOut,
    saveMean: ChannelOut,
    saveInvstd: ChannelOut,
) -> Plan:
    """Normalise every channel by its own statistics and update the running ones; or, beside training, by the running ones."""
    return batch_norm(
        input,
        weight,
        bias,
        (runningMean, runningVar),
        output,
        (saveMean, saveInvstd),
        training=training,
        momentum=momentum,
        eps=eps,
    )


@aclnnBatchNorm.example
def examples() -> Iterator[Example]:
    """Training with and without running statistics, inference with and without factors."""
    tensors = {"input": ("x", 1), "weight": ("c", 2), "bias": ("c", 3), "runningMean": ("c", 4), "runningVar": ("p", 5)}
    for turn, example in enumerate(channel_examples(**tensors, output=("x", 6), saveMean=("c", 7), saveInvstd=("c", 8))):
        settings = {"training": True, "momentum": 0.1, "eps": 1e-5}
        yield {**example, **settings}
        yield {**example, **settings, "training": False}
        if turn == 1:
            yield {**example, **settings, "runningMean": None, "runningVar": None, "bias": None}
            yield {**example, **settings, "training": False, "weight": None, "bias": None}
