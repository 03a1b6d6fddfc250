"""aclnnBatchNormBackward: gradients of batch normalisation with respect to its input, weight and bias."""

from collections.abc import Iterator

from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import ALL, Bool, BoolArrayIn, Double, Example, Operand, Plan, Product, operator, require, same_dtype
from aclnnop.norm.channels import Batch, OptionalBatchOut, OptionalChannel, OptionalChannelOut, batch_norm_gradient, channel_examples
from aclnnop.norm.rows import MASK_CHECKS


@operator(products=ALL - {Product.A310B, Product.A310P}, checks=MASK_CHECKS)
def aclnnBatchNormBackward(
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
    gradInput: OptionalBatchOut,
    gradWeight: OptionalChannelOut,
    gradBias: OptionalChannelOut,
) -> Plan:
    """Give those gradients that ``outputMask`` asks for; training: with respect to the batch's statistics, too."""
    types_fit(gradOut, weight, runningMean, runningVar, saveMean, saveInvstd)
    return batch_norm_gradient(
        gradOut,
        input,
        weight,
        (runningMean, runningVar),
        (saveMean, saveInvstd),
        outputMask,
        (gradInput, gradWeight, gradBias),
        training=training,
        eps=eps,
    )


def types_fit(grad: Operand, *factors: Operand | None) -> None:
    """On 950 a factor has the type of the gradient or FLOAT, and pairs of statistics have one type."""
    if soc.current().product is Product.A950:
        for factor in filter(None, factors):
            require(
                factor.dtype in (grad.dtype, FLOAT),
                f"{factor.name} has dtype {factor.dtype}, expected that of {grad.name}, {grad.dtype}, or {FLOAT}",
            )
        for first, second in (factors[1:3], factors[3:5]):
            if first is not None:
                same_dtype(first, second)


@aclnnBatchNormBackward.example
def examples() -> Iterator[Example]:
    """Training and inference, all gradients and some of them."""
    tensors = {
        "gradOut": ("x", 1),
        "input": ("x", 2),
        "weight": ("c", 3),
        "runningMean": ("c", 4),
        "runningVar": ("p", 5),
        "saveMean": ("c", 6),
        "saveInvstd": ("p", 7),
        "gradInput": ("x", 8),
        "gradWeight": ("c", 9),
        "gradBias": ("c", 10),
    }
    for example in channel_examples(**tensors):
        for training in (True, False):
            yield {**example, "training": training, "eps": 1e-3, "outputMask": [True, True, True]}
        yield {**example, "training": True, "eps": 1e-3, "outputMask": [False, True, False], "gradInput": None, "gradBias": None}
        fewer = {"weight": None, "gradWeight": None, "gradBias": None}
        yield {**example, "training": False, "eps": 1e-3, "outputMask": [True, False, False], **fewer}
