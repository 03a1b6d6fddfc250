"""aclnnCrossEntropyLoss: cross entropy of rows of logits, with their log probabilities for the backward pass."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import (
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
    mapped,
    operator,
    require,
    same_dtype,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.along_axis import log_softmax
from aclnnop.loss.class_targets import at_classes, find_classes, reduced

ClassWeight = Annotated[Operand | None, In(FLOAT, optional=True)]
ReductionName = Annotated[str | None, StringKind("char*", optional=True)]
ConstOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, const=True)]
REDUCTIONS = {"none": Reduction.NONE, "mean": Reduction.MEAN, "sum": Reduction.SUM}
PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})


@operator(products=PRODUCTS)
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
    return mapped(
        cross_entropy,
        reads=(input, target, weightOptional),
        writes=(lossOut, logProbOut),
        via=input.dtype,
        compute=np.float64,
        raw=(target,),
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
    require(name is None or name in REDUCTIONS, f"reductionOptional is {name!r}, expected one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[name or "mean"]


def class_weights(weight: Array | None, classes: int) -> Array:
    """One weight for each class, 1 where none are given."""
    return np.ones(classes) if weight is None else weight


def cross_entropy(
    x: Array, target: Array, weight: Array | None, *, reduction: Reduction, ignored: int, smoothing: float
) -> tuple[Array, Array]:
    """The loss, and the log softmax that it is taken from."""
    classes = x.shape[1]
    index, counted = find_classes(target, classes, ignored)
    log_prob = log_softmax(x, axis=1)
    by_class = class_weights(weight, classes)
    weights = np.where(counted, by_class[index], 0)
    losses = np.where(counted, -weights * at_classes(log_prob, index, 1), 0)
    if smoothing:
        spread = np.where(counted, -(log_prob * by_class).sum(axis=1), 0)
        losses = losses * (1 - smoothing) + spread * (smoothing / classes)
    return reduced(losses, weights, reduction), log_prob
