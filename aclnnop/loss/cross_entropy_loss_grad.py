"""aclnnCrossEntropyLossGrad: gradient of aclnnCrossEntropyLoss with respect to its logits."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import BF16, FLOAT, FLOAT16, INT64
from acl_emu.spec import Array, Double, FloatIn, In, Int, Operand, Plan, Reduction, mapped, operator, require, same_dtype, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.loss.class_targets import find_classes
from aclnnop.loss.cross_entropy_loss import PRODUCTS, ClassWeight, ConstOut, ReductionName, check_rows, class_weights, reduction_named
from aclnnop.loss.negative_log_likelihood import single

Unused = Annotated[Operand | None, In(FLOAT, FLOAT16, BF16, optional=True)]


@operator(products=PRODUCTS)
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
    out: ConstOut,
) -> Plan:
    """Scale softmax minus one-hot by ``gradLoss`` and the target's weight; the auxiliary z-loss is accepted and has no effect."""
    same_dtype(gradLoss, logProb, out, gradZlossOptional, lseForZlossOptional)
    with in_tiling():
        check_rows(logProb, target, weightOptional)
        reduction = reduction_named(reductionOptional)
        require(labelSmoothing == 0, f"labelSmoothing is {labelSmoothing}, expected 0")
        if reduction == Reduction.NONE:
            shape_is(gradLoss, target.shape, "N of logProb when nothing is reduced")
        else:
            single(gradLoss)
        shape_is(out, logProb.shape, "as logProb")
    return mapped(
        gradient,
        reads=(gradLoss, logProb, target, weightOptional),
        writes=(out,),
        via=logProb.dtype,
        compute=np.float64,
        raw=(target,),
        mean=reduction == Reduction.MEAN,
        ignored=ignoreIndex,
    )


def gradient(grad: Array, log_prob: Array, target: Array, weight: Array | None, *, mean: bool, ignored: int) -> Array:
    """Each row's share of the gradient, spread by the softmax and taken from the target; rows that are ignored have none."""
    rows, classes = log_prob.shape
    index, counted = find_classes(target, classes, ignored)
    weights = np.where(counted, class_weights(weight, classes)[index], 0)
    share = np.where(counted, grad * weights / (weights.sum() if mean else 1), 0)
    result = np.exp(log_prob) * share[:, np.newaxis]
    result[np.arange(rows), index] -= share
    return result
