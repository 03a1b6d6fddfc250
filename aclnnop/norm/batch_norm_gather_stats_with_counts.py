"""aclnnBatchNormGatherStatsWithCounts: the statistics of a batch from means and inverse standard deviations of its parts."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.spec import ALL, Array, Double, Example, In, Operand, Plan, Product, numbers, operator, require, shape_is
from aclnnop.math.unary import FLOATS
from aclnnop.norm.channels import Batch, Channel, ChannelOut, Running
from aclnnop.norm.gathered import gathered

Parts = Annotated[Operand, In(*FLOATS, rank=2)]


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnBatchNormGatherStatsWithCounts(
    input: Batch,
    mean: Parts,
    invstd: Parts,
    runningMean: Running,
    runningVar: Running,
    momentum: Double,
    eps: Double,
    counts: Channel,
    meanAll: ChannelOut,
    invstdAll: ChannelOut,
) -> Plan:
    """Combine the statistics of parts of so many elements, and update the running ones; ``input`` says how many channels there are."""
    channels, devices = input.shape[1], counts.shape[0]
    shape_is(mean, (devices, channels), "elements of counts, channels of input")
    shape_is(invstd, (devices, channels), "elements of counts, channels of input")
    for operand in filter(None, (runningMean, runningVar, meanAll, invstdAll)):
        shape_is(operand, (channels,), "one element for each channel of input")
    require(mean.size > 0, f"mean has shape {list(mean.shape)}, expected no length of 0")
    return gathered(of_moments, (mean, invstd), counts, (runningMean, runningVar), (meanAll, invstdAll), momentum=momentum, eps=eps)


def of_moments(mean: Array, invstd: Array, counts: Array, number: Array, eps: float) -> tuple[Array, Array]:
    """Within the parts and between them; nothing cancels but a part's eps."""
    of_all = (mean * counts).sum(axis=0) / number
    within = 1 / np.square(invstd) - eps
    return of_all, ((within + np.square(mean - of_all)) * counts).sum(axis=0) / number


@aclnnBatchNormGatherStatsWithCounts.example
def examples() -> Iterator[Example]:
    """With and without running statistics."""
    for dtype, running in zip(FLOATS, (True, True, False), strict=True):
        yield {
            "input": numbers((2, 3, 4), dtype, 1),
            "mean": numbers((4, 3), dtype, 2),
            "invstd": np.abs(numbers((4, 3), dtype, 3)) + dtype.numpy.type(0.5),
            "runningMean": numbers((3,), dtype, 4) if running else None,
            "runningVar": np.abs(numbers((3,), dtype, 5)) if running else None,
            "momentum": 0.1,
            "eps": 1e-5,
            "counts": np.array([1, 2, 3, 4], dtype.numpy),
            "meanAll": numbers((3,), dtype, 6),
            "invstdAll": numbers((3,), dtype, 7),
        }
