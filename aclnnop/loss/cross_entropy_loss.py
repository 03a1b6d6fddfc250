"""aclnnCrossEntropyLoss: cross entropy of rows of logits, with their log probabilities for the backward pass."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, INT32, INT64, DType, round_to
from acl_emu.engine import apply
from acl_emu.engine.calls import code_of
from acl_emu.engine.chain import Chain
from acl_emu.spec import (
    CHOICE_LATER,
    Array,
    Bool,
    ConstFloatOut,
    Double,
    Example,
    FloatIn,
    In,
    Int,
    Operand,
    Plan,
    Reduction,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.along_axis import rest_of_exponentials
from aclnnop.loss.class_rows import PRODUCTS, Choice, ClassWeight, ReductionName, check_rows, reduction_named
from aclnnop.loss.class_targets import find_classes, reduced, target_weights


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
    plan = direct(
        cross_entropy,
        reads=(input, target, weightOptional),
        writes=(lossOut, logProbOut),
        scratch={},
        dtype=input.dtype,
        reduction=reduction,
        ignored=ignoreIndex,
        smoothing=labelSmoothing,
    )
    return in_steps(plan, input, target, weightOptional, ignoreIndex, reduction, labelSmoothing, lossOut, logProbOut)


@aclnnCrossEntropyLoss.example
def examples() -> Iterator[Example]:
    """A weighted, smoothed mean; the loss of each row."""
    for dtype, index, weight, reduction, smoothing in (
        (FLOAT, INT64, numbers((5,), FLOAT, 2), "mean", 0.1),
        (BF16, INT32, None, "none", 0.0),
    ):
        yield {
            "input": numbers((6, 5), dtype, 1),
            "target": between(0, 5, (6,), index, 7),
            "weightOptional": weight,
            "reductionOptional": reduction,
            "ignoreIndex": 3,
            "labelSmoothing": smoothing,
            "lseSquareScaleForZloss": 0.0,
            "returnZloss": False,
            "lossOut": numbers((6,) if reduction == "none" else (1,), dtype, 3),
            "logProbOut": numbers((6, 5), dtype, 4),
            "zlossOut": numbers((1,), dtype, 5),
            "lseForZlossOut": numbers((6,), dtype, 6),
        }


def in_steps(
    plan: Plan,
    input: Operand,
    target: Operand,
    weight: Operand | None,
    ignored: int,
    reduction: Reduction,
    smoothing: float,
    loss: Operand,
    log_prob: Operand,
) -> Plan:
    """The plan, in C: what the targets choose, the log softmax, the losses."""
    chain = Chain(plan)
    rows, classes = input.shape
    chosen = Choice(chain, input, target, weight, ignored)
    largest, rest, spread = (chain.buffer((rows,)) for _ in range(3))
    terms = (chain.of(log_prob), largest.with_axis(1), rest.with_axis(1))
    if smoothing:
        by_class = chain.constant(np.ones(classes)) if weight is None else chain.of(weight)
        reads = (chain.of(input), by_class.at(0, (1, classes), (0, *by_class.layout.strides)))
        chain.kernel(smoothed_terms, reads, (*terms, spread.with_axis(1)))
    else:
        chain.kernel(log_softmax_terms, (chain.of(input),), terms)
    factors = np.array([1 - smoothing, smoothing / classes]).view(np.int64)
    numbers = (rows, reduction, code_of(loss.dtype), loss.view.layout.strides[0], smoothing != 0, *factors)
    parts = (*chosen.parts, largest, rest, spread, chain.of(loss))
    chain.call("acl_emu_rows_loss", numbers, parts, threaded=chosen.threaded)
    return chain.planned()


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
    rows, classes = x.shape
    chosen = find_classes(target, classes, ignored, source=x, axis=1, weight=weight)
    assert chosen.values is not None
    weights = target_weights(chosen)
    largest, rest, spread = np.empty((3, rows, 1))
    if smoothing:
        by_class = np.ones((1, classes)) if weight is None else weight[np.newaxis]
        apply(smoothed_terms, (x, by_class), (log_prob, largest, rest, spread))
    else:
        apply(log_softmax_terms, (x,), (log_prob, largest, rest))
    losses = -weights * (chosen.values - largest[:, 0] - np.log1p(rest[:, 0]))
    if smoothing:
        losses = losses * (1 - smoothing) - spread[:, 0] * (smoothing / classes)
    loss[...] = round_to(reduced(np.where(chosen.counted, losses, 0), weights, reduction), dtype)


def log_softmax_terms(x: Array) -> tuple[Array, Array, Array]:
    """The log softmax of rows, and what it is made of: ``x - largest - log1p(rest)``."""
    largest = x.max(axis=1, keepdims=True)
    differences = x - largest
    rest = rest_of_exponentials(differences, 1)
    return differences - np.log1p(rest), largest, rest


def smoothed_terms(x: Array, weight: Array) -> tuple[Array, Array, Array, Array]:
    """The same, and the weighted sum of each row."""
    log_prob, largest, rest = log_softmax_terms(x)
    return log_prob, largest, rest, (log_prob * weight).sum(axis=1, keepdims=True)
