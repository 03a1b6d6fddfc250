"""aclnnCrossEntropyLoss: cross entropy of rows of logits, with their log probabilities for the backward pass."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import INT32, INT64, DType, round_to
from acl_emu.spec import (
    CHOICE_LATER,
    Array,
    Bool,
    ConstFloatOut,
    Double,
    FloatIn,
    In,
    Int,
    Operand,
    Plan,
    Reduction,
    direct,
    nothing,
    operator,
    require,
    same_dtype,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.along_axis import log_softmax
from aclnnop.loss.class_rows import PRODUCTS, ClassWeight, ReductionName, check_rows, class_weights, reduction_named, row_blocks
from aclnnop.loss.class_targets import at_classes, find_classes, reduced


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
    lossOut: ConstFloatOut,
    logProbOut: ConstFloatOut,
    zlossOut: ConstFloatOut,
    lseForZlossOut: ConstFloatOut,
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
