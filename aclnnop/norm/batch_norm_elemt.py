"""aclnnBatchNormElemt: channels normalised by statistics that are given."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import ALL, Array, Double, Example, In, Operand, Plan, Product, mapped, operator, same_dtype, same_shape
from aclnnop.math.unary import FLOATS
from aclnnop.norm.channels import Batch, BatchOut, OptionalChannel, channel_examples, one_for_each_channel, some_channels
from aclnnop.norm.rows import scaled

Given = Annotated[Operand, In(*FLOATS, rank=1, const=False)]


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnBatchNormElemt(
    input: Batch, weight: OptionalChannel, bias: OptionalChannel, mean: Given, invstd: Given, eps: Double, output: BatchOut
) -> Plan:
    """Subtract every channel's mean, multiply by its inverse standard deviation, scale and shift; ``eps`` is in it already."""
    some_channels(input)
    factors = one_for_each_channel(input, 1, weight, bias, mean, invstd)
    same_dtype(input, weight, bias, mean, invstd, output)
    same_shape(input, output)
    return mapped(with_statistics, reads=(input, *factors), writes=(output,), dtype=input.dtype)


def with_statistics(x: Array, weight: Array | None, bias: Array | None, mean: Array, invstd: Array) -> Array:
    """The formula."""
    return scaled((x - mean) * invstd, weight, bias)


@aclnnBatchNormElemt.example
def examples() -> Iterator[Example]:
    """With and without factors."""
    tensors = {"input": ("x", 1), "weight": ("c", 2), "bias": ("c", 3), "mean": ("c", 4), "invstd": ("p", 5)}
    for turn, example in enumerate(channel_examples(**tensors, output=("x", 6))):
        yield {**example, "eps": 1e-5, **({"weight": None, "bias": None} if turn == 1 else {})}
