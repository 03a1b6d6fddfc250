"""What the negative log likelihood losses of rows and of images share: rules, forward and backward."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import INT32, INT64, UINT8
from acl_emu.spec import (
    Array,
    In,
    Operand,
    Plan,
    Reduction,
    ReductionMode,
    length_is,
    mapped,
    nothing,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.loss.class_targets import at_classes, find_classes, reduced

Index = Annotated[Operand, In(INT64, UINT8, INT32)]
ROWS = {1: "(C)", 2: "(N, C)"}
IMAGES = {4: "(N, C, H, W)"}
Mode = ReductionMode
"""Checked with the shapes that it decides about, not before them."""


def check_classes(self: Operand, target: Operand, weight: Operand, layouts: dict[int, str]) -> None:
    """``self`` has one of the layouts, ``target`` the same without its classes, ``weight`` one number for each class."""
    require(self.rank in layouts, f"self has shape {list(self.shape)}, expected {' or '.join(layouts.values())}")
    axis = class_axis(self.shape)
    shape_is(target, self.shape[:axis] + self.shape[axis + 1 :], "self without its classes")
    length_is(weight, self.shape[axis], "C of self")


def class_axis(shape: tuple[int, ...]) -> int:
    """The axis of the classes: the second one, or the only one."""
    return min(1, len(shape) - 1)


def check_reduced(loss: Operand, target: Operand, reduction: int) -> None:
    """A loss (or its gradient) for each target, or a single number; then the reduction."""
    if reduction == Reduction.NONE and target.rank:
        shape_is(loss, target.shape, "that of target when nothing is reduced")
    else:
        single(loss)
    require(reduction in list(Reduction), f"reduction is {reduction}, expected 0 (none), 1 (mean) or 2 (sum)")


def single(operand: Operand) -> None:
    """A single number, with one dimension or none."""
    require(
        operand.rank <= 1 and operand.size == 1,
        f"{operand.name} has shape {list(operand.shape)}, expected a single number with at most one dimension",
    )


def plan_loss(self: Operand, target: Operand, weight: Operand, reduction: int, ignored: int, out: Operand, total: Operand) -> Plan:
    """The loss of checked operands; without a reduction the total of the weights is not given."""
    if weight.size == 0:
        return nothing()
    writes = (out,) if reduction == Reduction.NONE else (out, total)
    # Only what stands at the targets is looked at: self is not cast as a whole.
    return mapped(
        loss,
        reads=(self, target, weight),
        writes=writes,
        via=self.dtype,
        compute=np.float64,
        raw=(self, target),
        reduction=Reduction(reduction),
        ignored=ignored,
    )


def loss(x: Array, target: Array, weight: Array, *, reduction: Reduction, ignored: int) -> Array | tuple[Array, Array]:
    """``-weight * x`` at the target classes, 0 where the target is ignored or outside the classes."""
    axis = class_axis(x.shape)
    index, counted = find_classes(target, x.shape[axis], ignored, faults=False)
    weights = np.where(counted, weight.reshape(-1)[index], 0)
    losses = reduced(np.where(counted, -weights * at_classes(x, index, axis), 0), weights, reduction)
    return losses if reduction == Reduction.NONE else (losses, np.asarray(weights.sum()))


def plan_gradient(
    gradOutput: Operand,
    self: Operand,
    target: Operand,
    weight: Operand,
    reduction: int,
    ignored: int,
    totalWeight: Operand,
    out: Operand,
    *,
    layouts: dict[int, str],
) -> Plan:
    """Check the operands of a backward operator, and give the gradient."""
    same_dtype(self, gradOutput, weight, totalWeight, out)
    check_classes(self, target, weight, layouts)
    length_is(totalWeight, 1, "a single number")
    same_shape(self, out)
    check_reduced(gradOutput, target, reduction)
    return mapped(
        gradient,
        reads=(gradOutput, target, weight, totalWeight),
        writes=(out,),
        via=self.dtype,
        raw=(target,),
        shape=self.shape,
        mean=reduction == Reduction.MEAN,
        ignored=ignored,
    )


def gradient(grad: Array, target: Array, weight: Array, total: Array, *, shape: tuple[int, ...], mean: bool, ignored: int) -> Array:
    """``-weight * grad`` at the class of each target that is not ignored, zero everywhere else."""
    axis = class_axis(shape)
    index, counted = find_classes(target, shape[axis], ignored)
    scale = grad.reshape(target.shape if grad.size == target.size else ())
    if mean:
        scale = scale / total.reshape(())
    value = np.where(counted, -weight.reshape(-1)[index] * scale, 0)
    result = np.zeros(shape, weight.dtype)
    np.put_along_axis(result, np.expand_dims(index, axis), np.expand_dims(value, axis), axis)
    return result
