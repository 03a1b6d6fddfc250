"""aclnnCrossEntropyLoss: cross entropy of rows of logits, with their log probabilities for the backward pass."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64, DType, round_to
from acl_emu.spec import (
    CHOICE_LATER,
    Array,
    Bool,
    Double,
    FloatIn,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    Reduction,
    StringKind,
    direct,
    nothing,
    operator,
    require,
    same_dtype,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.along_axis import log_softmax
from aclnnop.loss.class_targets import at_classes, find_classes, reduced

ClassWeight = Annotated[Operand | None, In(FLOAT, optional=True)]
ConstOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, const=True)]
REDUCTIONS = {"none": Reduction.NONE, "mean": Reduction.MEAN, "sum": Reduction.SUM}
NAME = StringKind("char*", optional=True, choices=tuple(REDUCTIONS))
ReductionName = Annotated[str | None, NAME]
BLOCK_ELEMENTS = 1 << 18
PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})


@operator(products=PRODUCTS, checks=CHOICE_LATER)
def aclnnCrossEntropyLoss(
    input: FloatIn,
    target: Annotated[Operand, In(INT32, INT64)],
    weightOptional: ClassWeight,
    reductionOptional: ReductionName,
    ignoreIndex: Int,
    labelSmoothing: Double,
    lseSquareScaleForZloss: Double,
    returnZloss: Bool,
    lossOut: ConstOut,
    logProbOut: ConstOut,
    zlossOut: ConstOut,
    lseForZlossOut: ConstOut,
) -> Plan:
    """Weigh, smooth and reduce the log softmax at the targets; the auxiliary z-loss is accepted and has no effect."""
    same_dtype(input, lossOut, logProbOut, zlossOut, lseForZlossOut)
    with in_tiling():
        check_rows(input, target, weightOptional)
        reduction = reduction_named(reductionOptional)
        require(0 <= labelSmoothing <= 1, f"labelSmoothing is {labelSmoothing}, expected a value in [0, 1]")
        shape_is(lossOut, target.shape if reduction == Reduction.NONE else (1,), f"reductionOptional is {reduction.name.lower()}")
        shape_is(logProbOut, input.shape, "as input")
    if lossOut.size == 0:
        return nothing()
    return direct(
        cross_entropy,
        reads=(input, target, weightOptional),
        writes=(lossOut, logProbOut),
        scratch={},
        dtype=input.dtype,
        reduction=reduction,
        ignored=ignoreIndex,
        smoothing=labelSmoothing,
    )


def check_rows(logits: Operand, target: Operand, weight: Operand | None) -> None:
    """Rows of at least one class, a target for each row, a weight for each class."""
    require(logits.rank == 2 and logits.shape[1] > 0, f"{logits.name} has shape {list(logits.shape)}, expected (N, C) with C above 0")
    shape_is(target, logits.shape[:1], f"N of {logits.name}")
    if weight is not None:
        shape_is(weight, logits.shape[1:], f"C of {logits.name}")


def reduction_named(name: str | None) -> Reduction:
    """The reduction of a name; none given means mean."""
    if name is None:
        return Reduction.MEAN
    NAME.check_choice("reductionOptional", name)
    return REDUCTIONS[name]


def class_weights(weight: Array | None, classes: int) -> Array:
    """One weight for each class in float64, 1 where none are given."""
    return np.ones(classes) if weight is None else weight.astype(np.float64)


def row_blocks(matrix: Array) -> Iterator[slice]:
    """Some rows of a matrix at a time, so that what is held in float64 does not grow with it."""
    rows, width = matrix.shape
    step = max(1, BLOCK_ELEMENTS // width)
    return (slice(first, first + step) for first in range(0, rows, step))


def cross_entropy(
    x: Array,
    target: Array,
    weight: Array | None,
    loss: Array,
    log_prob: Array,
    *,
    dtype: DType,
    reduction: Reduction,
    ignored: int,
    smoothing: float,
) -> None:
    """The loss, and the log softmax that it is taken from."""
    classes = x.shape[1]
    index, counted = find_classes(target, classes, ignored)
    by_class = class_weights(weight, classes)
    weights = np.where(counted, by_class[index], 0)
    losses = np.zeros(len(x))
    for rows in row_blocks(x):
        exact = log_softmax(x[rows].astype(np.float64), axis=1)
        log_prob[rows] = round_to(exact, dtype)
        losses[rows] = -weights[rows] * at_classes(exact, index[rows], 1)
        if smoothing:
            losses[rows] = losses[rows] * (1 - smoothing) - (exact * by_class).sum(axis=1) * (smoothing / classes)
    loss[...] = round_to(reduced(np.where(counted, losses, 0), weights, reduction), dtype)
