"""aclnnCrossEntropyLossGrad: gradient of aclnnCrossEntropyLoss with respect to its logits."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT64, DType, round_to
from acl_emu.engine import apply
from acl_emu.engine.calls import code_of
from acl_emu.engine.chain import Chain
from acl_emu.spec import (
    CHOICE_LATER,
    Array,
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
)
from acl_emu.spec.checks import require, same_dtype, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.loss.class_rows import PRODUCTS, Choice, ClassWeight, ReductionName, check_rows, reduction_named
from aclnnop.loss.class_targets import find_classes, target_weights
from aclnnop.loss.negative_log_likelihood import single

Unused = Annotated[Operand | None, In(FLOAT, FLOAT16, BF16, optional=True)]


@operator(products=PRODUCTS, checks=CHOICE_LATER)
def aclnnCrossEntropyLossGrad(
    gradLoss: FloatIn,
    logProb: FloatIn,
    target: Annotated[Operand, In(INT64)],
    weightOptional: ClassWeight,
    gradZlossOptional: Unused,
    lseForZlossOptional: Unused,
    reductionOptional: ReductionName,
    ignoreIndex: Int,
    labelSmoothing: Double,
    lseSquareScaleForZloss: Double,
    out: ConstFloatOut,
) -> Plan:
    """Scale softmax minus smoothed one-hot by ``gradLoss`` and the weights; the auxiliary z-loss is accepted and has no effect."""
    same_dtype(gradLoss, logProb, out, gradZlossOptional, lseForZlossOptional)
    with in_tiling():
        check_rows(logProb, target, weightOptional)
        reduction = reduction_named(reductionOptional)
        require(0 <= labelSmoothing <= 1, f"labelSmoothing is {labelSmoothing}, expected a value in [0, 1]")
        if reduction == Reduction.NONE:
            shape_is(gradLoss, target.shape, "N of logProb when nothing is reduced")
        else:
            single(gradLoss)
        shape_is(out, logProb.shape, "as logProb")
    if out.size == 0:
        return nothing()
    mean = reduction == Reduction.MEAN
    reads = (gradLoss, logProb, target, weightOptional)
    if labelSmoothing:
        return direct(
            smoothed, reads=reads, writes=(out,), scratch={}, dtype=out.dtype, mean=mean, ignored=ignoreIndex, smoothing=labelSmoothing
        )
    plan = direct(gradient, reads=reads, writes=(out,), scratch={}, dtype=out.dtype, mean=mean, ignored=ignoreIndex)
    return in_steps(plan, gradLoss, logProb, target, weightOptional, ignoreIndex, mean, out)


@aclnnCrossEntropyLossGrad.example
def examples() -> Iterator[Example]:
    """A mean with weights and z loss; a gradient for each row, also of smoothed labels."""
    weights = numbers((5,), FLOAT, 3)
    for dtype, shape, weight, reduction, smoothing in (
        (FLOAT, (), weights, "mean", 0.0),
        (FLOAT16, (6,), None, "none", 0.0),
        (BF16, (6,), weights, "none", 0.25),
    ):
        yield {
            "gradLoss": numbers(shape, dtype, 1),
            "logProb": -np.abs(numbers((6, 5), dtype, 2)),
            "target": between(0, 5, (6,), INT64, 7),
            "weightOptional": weight,
            "gradZlossOptional": None if weight is None else numbers(shape, dtype, 4),
            "lseForZlossOptional": None if weight is None else numbers((6,), dtype, 5),
            "reductionOptional": reduction,
            "ignoreIndex": 3,
            "labelSmoothing": smoothing,
            "lseSquareScaleForZloss": 0.0,
            "out": numbers((6, 5), dtype, 6),
        }


def in_steps(
    plan: Plan, grad: Operand, log_prob: Operand, target: Operand, weight: Operand | None, ignored: int, mean: bool, out: Operand
) -> Plan:
    """The plan, in C: what the targets choose, the share of each row, the softmax, and what is taken from the targets."""
    chain = Chain(plan)
    chosen = Choice(chain, log_prob, target, weight, ignored)
    shares, x = chain.buffer((chosen.rows,)), out.view.layout
    numbers: tuple[int, ...] = (chosen.rows, mean, code_of(grad.dtype), grad.view.layout.strides[0] if grad.size > 1 else 0)
    chain.call("acl_emu_rows_shares", numbers, (chain.of(grad), chosen.classes, chosen.weights, shares), threaded=False)
    chain.kernel(spread, (chain.of(log_prob), shares.with_axis(1)), (chain.of(out),))
    parts = (chosen.classes, chosen.values, shares, chain.of(out))
    numbers = (chosen.rows, code_of(out.dtype), out.dtype.itemsize, *x.strides)
    chain.call("acl_emu_rows_targets", numbers, parts, threaded=chosen.threaded)
    return chain.planned()


def gradient(
    grad: Array, log_prob: Array, target: Array, weight: Array | None, out: Array, *, dtype: DType, mean: bool, ignored: int
) -> None:
    """Each row's share of the gradient, spread by the softmax and taken from the target; rows that are ignored have none."""
    chosen = find_classes(target, log_prob.shape[1], ignored, source=log_prob, axis=1, weight=weight)
    assert chosen.values is not None
    weights = target_weights(chosen)
    shares = np.where(chosen.counted, grad.astype(np.float64) * weights / (weights.sum() if mean else 1), 0)
    apply(spread, (log_prob, shares[:, np.newaxis]), (out,))
    rows = np.flatnonzero(chosen.counted)
    share = shares[rows]
    out[rows, chosen.classes[rows]] = round_to(spread(chosen.values[rows].astype(np.float64), share) - share, dtype)


def smoothed(
    grad: Array,
    log_prob: Array,
    target: Array,
    weight: Array | None,
    out: Array,
    *,
    dtype: DType,
    mean: bool,
    ignored: int,
    smoothing: float,
) -> None:
    """As ``gradient``, of labels that give a part of their weight to all classes alike. In float64."""
    classes = log_prob.shape[1]
    chosen = find_classes(target, classes, ignored, source=log_prob, axis=1, weight=weight)
    weights = target_weights(chosen)
    scale = np.where(chosen.counted, grad.astype(np.float64) / (weights.sum() if mean else 1), 0)
    shares, rest = (1 - smoothing) * scale * weights, smoothing / classes * scale
    of_classes = np.ones(classes) if weight is None else weight.astype(np.float64)
    taken = rest[:, np.newaxis] * of_classes
    rows = np.flatnonzero(chosen.counted)
    taken[rows, chosen.classes[rows]] += shares[rows]
    spreads = spread(log_prob.astype(np.float64), (shares + rest * of_classes.sum())[:, np.newaxis])
    out[...] = round_to(np.where(chosen.counted[:, np.newaxis], spreads - taken, 0), dtype)


def spread(log_prob: Array, share: Array) -> Array:
    """A share by probabilities."""
    return np.exp(log_prob) * share
