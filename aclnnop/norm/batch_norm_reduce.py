"""aclnnBatchNormReduce: the sums of every channel's elements and of their squares."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, mapped, nothing, numbers, operator
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.norm.channels import one_for_each_channel, other_axes
from aclnnop.norm.rows import Axes

Sums = Annotated[Operand, Out(FLOAT, rank=1)]


@operator(products=NEWER)
def aclnnBatchNormReduce(x: Annotated[Operand, In(*FLOATS, rank=4)], sum: Sums, squareSum: Sums) -> Plan:
    """Add up every channel, an index of the second axis."""
    writes = [operand for operand in one_for_each_channel(x, 1, sum, squareSum) if operand is not None]
    return mapped(sums, reads=(x,), writes=writes, dtype=FLOAT, axes=other_axes(x, 1)) if x.size else nothing()


def sums(x: Array, *, axes: Axes) -> tuple[Array, Array]:
    """In float64."""
    wide = x.astype(np.float64)
    return x.sum(axis=axes, dtype=np.float64, keepdims=True).astype(x.dtype), np.square(wide).sum(axis=axes, keepdims=True).astype(x.dtype)


@aclnnBatchNormReduce.example
def examples() -> Iterator[Example]:
    """Every type."""
    for dtype in FLOATS:
        yield {"x": numbers((2, 3, 4, 5), dtype, 1, 3), "sum": numbers((3,), FLOAT, 2), "squareSum": numbers((3,), FLOAT, 3)}
