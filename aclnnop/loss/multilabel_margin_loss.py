"""aclnnMultilabelMarginLoss: hinge loss between the classes that a sample has and those that it has not."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import (
    Array,
    FloatOut,
    In,
    Operand,
    Out,
    Plan,
    Product,
    Reduction,
    ReductionMode,
    mapped,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)

# Pairs of classes that are compared at once.
BLOCK_PAIRS = 1 << 20


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnMultilabelMarginLoss(
    self: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(1, 2))],
    target: Annotated[Operand, In(INT32, INT64, rank=(1, 2))],
    reduction: ReductionMode,
    out: FloatOut,
    isTarget: Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=(1, 2))],
) -> Plan:
    """Sum the margins that are not kept, and mark the classes that each sample has."""
    same_dtype(self, out, isTarget)
    require(self.shape[-1] > 0, f"self has shape {list(self.shape)}, expected at least one class")
    same_shape(self, target, isTarget)
    shape_is(out, self.shape[:-1] if reduction == Reduction.NONE else (), "one number for each sample, or a single one when reduced")
    return mapped(
        margins,
        reads=(self, target),
        writes=(out, isTarget),
        via=self.dtype,
        compute=np.float64,
        raw=(target,),
        reduction=Reduction(reduction),
    )


def margins(x: Array, target: Array, *, reduction: Reduction) -> tuple[Array, Array]:
    """``max(0, 1 - x[own] + x[other])`` summed over all pairs of an own and another class; labels end at the first -1."""
    samples, labels = x.reshape(-1, x.shape[-1]), target.reshape(-1, x.shape[-1])
    classes = np.arange(x.shape[-1])
    losses, own = np.zeros(len(samples)), np.zeros(samples.shape, np.bool_)
    for i, sample in enumerate(samples):
        padding = np.flatnonzero(labels[i] == -1)
        own[i] = np.isin(classes, labels[i, : padding[0]] if padding.size else labels[i])
        mine, others = sample[own[i]], sample[~own[i]]
        step = max(1, BLOCK_PAIRS // max(1, others.size))
        for first in range(0, mine.size, step):
            losses[i] += np.maximum(0, 1 - mine[first : first + step, np.newaxis] + others).sum()
    losses = losses.reshape(x.shape[:-1]) / classes.size
    result = {Reduction.NONE: losses, Reduction.SUM: losses.sum(), Reduction.MEAN: losses.sum() / losses.size}[reduction]
    return np.asarray(result), own.reshape(x.shape).astype(np.float64)
