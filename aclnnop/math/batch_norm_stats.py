"""aclnnBatchNormStats: mean and inverse standard deviation of every channel."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import ALL, Array, Double, Example, In, Operand, Out, Plan, Product, mapped, numbers, operator, require
from aclnnop.math.unary import FLOATS
from aclnnop.norm.channels import one_for_each_channel, other_axes
from aclnnop.norm.rows import Axes, normalised

OLDER_TYPES = (FLOAT, FLOAT16)
Statistic = Annotated[Operand, Out(FLOAT, rank=1)]


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnBatchNormStats(
    input: Annotated[Operand, In(*FLOATS, rank=(2, 8), on=dict.fromkeys((Product.A2, Product.A3, Product.A910), OLDER_TYPES))],
    eps: Double,
    mean: Statistic,
    invstd: Statistic,
) -> Plan:
    """Take the statistics of every channel, an index of the second axis."""
    require(input.size > 0, f"input has shape {list(input.shape)}, expected no length of 0")
    statistics = [operand for operand in one_for_each_channel(input, 1, mean, invstd) if operand is not None]
    axes = other_axes(input, 1)
    count = math.prod(input.shape[axis] for axis in axes)
    return mapped(channel_statistics, reads=(input,), writes=statistics, dtype=FLOAT, axes=axes, count=count, eps=eps)


def channel_statistics(x: Array, *, axes: Axes, count: int, eps: float) -> tuple[Array, Array]:
    """Means and inverse standard deviations."""
    _, mean, rstd = normalised(x, axes, count, eps)
    return mean, rstd


def call(dtype: DType, shape: tuple[int, ...]) -> Example:
    """One of three channels."""
    return {"input": numbers(shape, dtype, 1, 3), "eps": 1e-5, "mean": numbers((3,), FLOAT, 2), "invstd": numbers((3,), FLOAT, 3)}


@aclnnBatchNormStats.example
def examples() -> Iterator[Example]:
    """Two and four axes."""
    yield call(FLOAT, (4, 3))
    yield call(FLOAT16, (2, 3, 2, 4))


aclnnBatchNormStats.example_on(Product.A950)(lambda: [call(BF16, (2, 3, 5))])
