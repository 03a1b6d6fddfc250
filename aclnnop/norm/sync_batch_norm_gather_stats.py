"""aclnnSyncBatchNormGatherStats: the statistics of a batch from sums and sums of squares of its parts."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, DType
from acl_emu.spec import Array, Example, Float, In, InOut, Operand, Out, Plan, Product, numbers, operator, require, same_shape, shape_is
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.norm.gathered import gathered

ON = dict.fromkeys((Product.A2, Product.A3), (FLOAT, FLOAT16))
Parts = Annotated[Operand, In(*FLOATS, rank=2, on=ON)]
Running = Annotated[Operand, InOut(*FLOATS, rank=1, const=False, on=ON)]
ChannelOut = Annotated[Operand, Out(*FLOATS, rank=1, on=ON)]


@operator(products=NEWER)
def aclnnSyncBatchNormGatherStats(
    totalSum: Parts,
    totalSquareSum: Parts,
    sampleCount: Annotated[Operand, In(*FLOATS, INT32, rank=1)],
    mean: Running,
    variance: Running,
    momentum: Float,
    eps: Float,
    batchMean: ChannelOut,
    batchInvstd: ChannelOut,
) -> Plan:
    """Combine the sums of parts of so many elements, and update the running statistics in place."""
    same_shape(totalSum, totalSquareSum)
    require(totalSum.shape[0] > 0, f"totalSum has shape {list(totalSum.shape)}, expected a first length of at least 1")
    shape_is(sampleCount, totalSum.shape[:1], "the first length of totalSum")
    for operand in (mean, variance, batchMean, batchInvstd):
        shape_is(operand, totalSum.shape[1:], "the second length of totalSum")
    return gathered(
        of_sums, (totalSum, totalSquareSum), sampleCount, (mean, variance), (batchMean, batchInvstd), momentum=momentum, eps=eps
    )


def of_sums(sums: Array, squares: Array, counts: Array, number: Array, eps: float) -> tuple[Array, Array]:
    """The formula, in float64: the difference cancels."""
    mean = sums.sum(axis=0) / number
    return mean, squares.sum(axis=0) / number - np.square(mean)


def call(dtype: DType, counts: DType) -> Example:
    """Two devices, three channels."""
    return {
        "totalSum": numbers((2, 3), dtype, 1),
        "totalSquareSum": np.abs(numbers((2, 3), dtype, 2)) + 2,
        "sampleCount": np.array([3, 5], counts.numpy),
        "mean": numbers((3,), dtype, 3),
        "variance": np.abs(numbers((3,), dtype, 4)),
        "momentum": 0.1,
        "eps": 1e-5,
        "batchMean": numbers((3,), dtype, 5),
        "batchInvstd": numbers((3,), dtype, 6),
    }


@aclnnSyncBatchNormGatherStats.example
def examples() -> Iterator[Example]:
    """Counts of each kind."""
    yield call(FLOAT, INT32)
    yield call(FLOAT16, FLOAT16)
    yield call(FLOAT, FLOAT)


aclnnSyncBatchNormGatherStats.example_on(Product.A950)(lambda: [call(BF16, BF16)])
