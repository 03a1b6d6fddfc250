"""aclnnMultilabelMarginLoss: hinge loss between the classes that a sample has and those that it has not."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64, DType, round_to
from acl_emu.engine.calls import code_of, done_by
from acl_emu.spec import (
    Array,
    Example,
    FloatOut,
    In,
    Operand,
    Out,
    Plan,
    Product,
    Reduction,
    ReductionMode,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)

THREADED_NUMBERS = 1 << 15
"""Numbers that are worth a second thread."""


@operator(products=frozenset({Product.A3, Product.A2, Product.A910}))
def aclnnMultilabelMarginLoss(
    self: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(0, 2))],
    target: Annotated[Operand, In(INT32, INT64, rank=(0, 2))],
    reduction: ReductionMode,
    out: FloatOut,
    isTarget: Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=(0, 2))],
) -> Plan:
    """Sum the margins that are not kept, and mark the classes that each sample has."""
    same_dtype(self, out, isTarget)
    if self.rank == 0:  # a single class
        same_shape(self, target)
        self, target = self.in_view((1,)), target.in_view((1,))
    require(self.shape[-1] > 0, f"self has shape {list(self.shape)}, expected at least one class")
    same_shape(self, target, isTarget)
    shape_is(out, self.shape[:-1] if reduction == Reduction.NONE else (), "one number for each sample, or a single one when reduced")
    if isTarget.size == 0 and out.size == 0:
        return nothing()
    plan = direct(margins, reads=(self, target), writes=(out, isTarget), scratch={}, reduction=Reduction(reduction), dtype=self.dtype)
    x, labels, marks = (_rows(operand) for operand in (self, target, isTarget))
    numbers = (
        *(self.size // self.shape[-1], self.shape[-1], reduction, code_of(self.dtype), *x),
        *(code_of(target.dtype), *labels, sum(out.view.layout.strides), *marks),
    )
    return done_by("acl_emu_labels_loss", plan, numbers, threaded=self.size >= THREADED_NUMBERS)


@aclnnMultilabelMarginLoss.example
def examples() -> Iterator[Example]:
    """Rows whose targets end early, at once, or never."""
    targets = [[0, 3, -1, 1, 1], [-1, 0, 0, 0, 0], [4, 2, 1, 0, 3], [2, 2, 0, -1, -1]]
    for dtype, index, reduction in ((FLOAT, INT64, 0), (BF16, INT32, 1)):
        yield {
            "self": numbers((4, 5), dtype, 1),
            "target": np.array(targets, index.numpy),
            "reduction": reduction,
            "out": numbers((4,) if reduction == 0 else (), dtype, 2),
            "isTarget": numbers((4, 5), dtype, 3),
        }


def _rows(operand: Operand) -> tuple[int, int]:
    """Bytes between samples, and between classes; a single sample is one row."""
    *down, across = operand.view.layout.strides
    return sum(down), across


def margins(x: Array, target: Array, out: Array, is_target: Array, *, reduction: Reduction, dtype: DType) -> None:
    """``max(0, 1 - x[own] + x[other])`` summed over all pairs of a label and another class; labels end at the first -1."""
    samples, labels = np.atleast_2d(x), np.atleast_2d(target)
    counts = label_counts(labels)
    losses = np.array([pair_sum(row.astype(np.float64), mine) for row, mine in zip(samples, counts, strict=True)]).reshape(x.shape[:-1])
    losses /= samples.shape[-1]
    is_target[...] = (counts > 0).reshape(x.shape)
    total = losses.sum()
    result = {Reduction.NONE: losses, Reduction.SUM: total, Reduction.MEAN: total / losses.size}[reduction]
    out[...] = round_to(np.asarray(result), dtype)


def label_counts(labels: Array) -> Array:
    """How often a sample has each class as a label; what is no class is none of them."""
    classes = labels.shape[1]
    valid = (np.cumsum(labels == -1, axis=1) == 0) & (labels >= 0) & (labels < classes)
    counts = np.zeros(labels.shape, np.int64)
    row, place = np.nonzero(valid)
    np.add.at(counts, (row, labels[row, place]), 1)
    return counts


def pair_sum(x: Array, counts: Array) -> float:
    """What is missing to the margins between the labels of a sample and the other classes, one own class at a time."""
    own, others = counts > 0, x[counts == 0]
    return float(sum(count * np.maximum(0, 1 - mine + others).sum() for mine, count in zip(x[own], counts[own], strict=True)))
