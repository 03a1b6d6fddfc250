"""aclnnBatchNormElemtBackward: the gradient of batch normalisation with respect to its input, from sums over all devices."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32
from acl_emu.spec import ALL, Array, Example, In, Operand, Plan, Product, mapped, nothing, operator, same_shape
from aclnnop.norm.channels import Batch, BatchOut, Channel, OptionalChannel, channel_examples, one_for_each_channel, some_channels
from aclnnop.norm.rows import scaled


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnBatchNormElemtBackward(
    gradOut: Batch,
    input: Batch,
    mean: Channel,
    invstd: Channel,
    weight: OptionalChannel,
    sumDy: Channel,
    sumDyXmu: Channel,
    counter: Annotated[Operand, In(INT32, FLOAT16, FLOAT, rank=(1, 8), const=False)],
    gradInput: BatchOut,
) -> Plan:
    """Take out of the gradient what the batch's statistics account for; the sum of ``counter`` is the size of the batch."""
    some_channels(input)
    same_shape(input, gradOut, gradInput)
    factors = one_for_each_channel(input, 1, mean, invstd, weight, sumDy, sumDyXmu)
    if not counter.size:
        return nothing()
    reads = (gradOut, input, *factors, counter)
    return mapped(with_sums, reads=reads, writes=(gradInput,), dtype=FLOAT, raw=(counter, gradInput))


def with_sums(
    grad: Array, x: Array, mean: Array, invstd: Array, weight: Array | None, of_grad: Array, of_product: Array, counter: Array
) -> Array:
    """The formula."""
    count = np.float32(counter.sum(dtype=np.float64))
    left = grad - of_grad / count - (x - mean) * (invstd * invstd * (of_product / count))
    return scaled(left * invstd, weight, None)


@aclnnBatchNormElemtBackward.example
def examples() -> Iterator[Example]:
    """Every type of counter."""
    tensors = {
        "gradOut": ("x", 1),
        "input": ("x", 2),
        "mean": ("c", 3),
        "invstd": ("p", 4),
        "weight": ("c", 5),
        "sumDy": ("c", 6),
        "sumDyXmu": ("c", 7),
        "gradInput": ("x", 8),
    }
    for counter, example in zip((INT32, FLOAT16, FLOAT), channel_examples(**tensors), strict=True):
        yield {**example, "counter": np.array([5, 7], counter.numpy), **({"weight": None} if counter is FLOAT16 else {})}
