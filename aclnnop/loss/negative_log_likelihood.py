"""What the negative log likelihood losses of rows and of images share: rules, forward and backward."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.typing import DTypeLike

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, INT32, INT64, UINT8, DType, from_numpy, round_to
from acl_emu.engine import apply
from acl_emu.engine.calls import code_of, done_by, stride_of
from acl_emu.engine.indexing import choose, pixel_space, without
from acl_emu.spec import (
    Array,
    Example,
    In,
    Indices,
    Operand,
    Plan,
    Product,
    Reduction,
    ReductionMode,
    between,
    direct,
    length_is,
    nothing,
    numbers,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.loss.class_targets import find_classes

Index = Annotated[Operand, In(INT64, UINT8, INT32)]
ROWS = {1: "(C)", 2: "(N, C)"}
IMAGES = {4: "(N, C, H, W)"}
THREADED_TARGETS, THREADED_ELEMENTS = 1 << 13, 1 << 17
"""From how many on a second thread is worth while: targets that choose from memory, elements that are written."""
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


def outside_faults() -> bool:
    """Whether a target outside the classes stops the device; elsewhere it counts for nothing."""
    return soc.current().product is Product.A950


def check_reduced(loss: Operand, target: Operand, reduction: int) -> None:
    """A loss (or its gradient) for each target, or a single number; then the reduction."""
    if reduction == Reduction.NONE and target.rank:
        shape_is(loss, target.shape, "that of target when nothing is reduced")
    else:
        single(loss)
    require(reduction in list(Reduction), f"reduction is {reduction}, expected 0 (none), 1 (mean) or 2 (sum)")


def single(operand: Operand) -> None:
    """A single number, with one dimension or none; an output may have more."""
    require(
        operand.size == 1 and (operand.rank <= 1 or operand.is_output),
        f"{operand.name} has shape {list(operand.shape)}, expected a single number with at most one dimension",
    )


def plan_loss(self: Operand, target: Operand, weight: Operand, reduction: int, ignored: int, out: Operand, total: Operand) -> Plan:
    """The loss of checked operands; without a reduction the total of the weights is not given."""
    if weight.size == 0 or out.size == 0:
        return nothing()
    writes = (out, None) if reduction == Reduction.NONE else (out, total)
    options = {"reduction": Reduction(reduction), "ignored": ignored, "dtype": self.dtype, "faults": outside_faults()}
    plan = direct(loss, reads=(self, target, weight), writes=writes, scratch={}, **options)
    x, axis, weight_stride = self.view.layout, class_axis(self.shape), stride_of(weight)
    chosen = (Indices(target.name, target.dtype.numpy, x.shape[axis], ignored),)
    plan.indices = chosen
    if weight_stride is None:
        return plan
    places = target.view.layout.strides
    results = out.view.layout.strides if reduction == Reduction.NONE and target.rank else (0,) * target.rank
    pixels, (x_steps, target_steps, out_steps) = pixel_space(target.shape, without(x.strides, axis), places, results)
    numbers = (
        *(*pixels, x.shape[axis], ignored, reduction, outside_faults(), code_of(self.dtype), x.dtype.itemsize, *x_steps, x.strides[axis]),
        *(code_of(target.dtype), *target_steps, weight_stride, code_of(out.dtype), *out_steps, code_of(total.dtype)),
    )
    plan = done_by("acl_emu_classes_loss", plan, numbers, threaded=target.size >= THREADED_TARGETS)
    plan.indices = chosen
    plan.size = target.size * (target.dtype.itemsize + 2 * self.dtype.itemsize)  # all but the chosen elements stay unread
    return plan


def loss(
    x: Array,
    target: Array,
    weight: Array,
    out: Array,
    total: Array | None,
    *,
    reduction: Reduction,
    ignored: int,
    faults: bool,
    dtype: DType,
) -> None:
    """``-weight * x`` at the target classes, 0 where the target does not count; rounded to ``dtype``."""
    axis = class_axis(x.shape)
    find = find_classes if faults else choose
    chosen = find(target, x.shape[axis], ignored, x, axis, weight.reshape(-1))
    assert chosen.values is not None
    assert chosen.weights is not None
    found = (chosen.values, chosen.weights, chosen.counted)
    if total is None:
        losses = out if out.dtype == dtype.numpy else np.empty(out.shape, dtype.numpy)
        apply(weighted, found, (losses.reshape(target.shape),), dtype=np.float64)
        if losses is not out:
            out[...] = round_to(losses, from_numpy(out.dtype))
        return
    sums = np.empty((2, 1))
    apply(weighted_totals, found, (sums[0], sums[1]), dtype=np.float64)
    if reduction == Reduction.MEAN:
        sums[0] /= sums[1]
    for target_array, value in ((out, sums[0]), (total, sums[1])):
        target_array[...] = round_to(round_to(value, dtype), from_numpy(target_array.dtype)).reshape(target_array.shape)


def weighted(x: Array, weight: Array, counted: Array) -> Array:
    """The loss of every target."""
    return np.where(counted, -weight * x, 0)


def weighted_totals(x: Array, weight: Array, counted: Array) -> tuple[Array, Array]:
    """The sum of all losses, and that of their weights."""
    return weighted(x, weight, counted).sum(), np.where(counted, weight, 0).sum()


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
    if out.size == 0:
        return nothing()
    plan = direct(
        gradient,
        reads=(gradOutput, target, weight, totalWeight),
        writes=(out,),
        scratch={},
        compute=self.dtype.compute,
        mean=reduction == Reduction.MEAN,
        ignored=ignored,
        faults=outside_faults(),
    )
    x, axis, weight_stride = out.view.layout, class_axis(out.shape), stride_of(weight)
    if weight_stride is None:
        return plan
    grads = gradOutput.view.layout.strides if gradOutput.shape == target.shape else (0,) * target.rank
    pixels, (grad_steps, target_steps, out_steps) = pixel_space(target.shape, grads, target.view.layout.strides, without(x.strides, axis))
    numbers = (
        *(
            *pixels,
            x.shape[axis],
            ignored,
            reduction == Reduction.MEAN,
            outside_faults(),
            code_of(out.dtype),
            x.dtype.itemsize,
            *grad_steps,
        ),
        *(code_of(target.dtype), *target_steps, weight_stride, *out_steps, x.strides[axis]),
    )
    return done_by("acl_emu_classes_gradient", plan, numbers, threaded=out.size >= THREADED_ELEMENTS)


def gradient(
    grad: Array, target: Array, weight: Array, total: Array, out: Array, *, compute: DTypeLike, mean: bool, ignored: int, faults: bool
) -> None:
    """``-weight * grad`` at the class of each target that counts, zero everywhere else."""
    axis = class_axis(out.shape)
    find = find_classes if faults else choose
    chosen = find(target, out.shape[axis], ignored, None, 0, weight.reshape(-1))
    assert chosen.weights is not None
    scale = grad.reshape(target.shape if grad.size == target.size else (1,) * target.ndim)
    values = np.empty(target.shape, out.dtype)
    apply(slope, (chosen.weights, scale, *((total.reshape((1,) * target.ndim),) if mean else ())), (values,), dtype=compute)
    out[...] = 0
    classes, here = np.maximum(chosen.classes, 0), np.where(chosen.counted, values, 0)
    np.put_along_axis(out, np.expand_dims(classes, axis), np.expand_dims(here, axis), axis)


def slope(weight: Array, scale: Array, total: Array | None = None) -> Array:
    """The gradient at the target class."""
    return -weight * (scale if total is None else scale / total)


def loss_examples(*pixels: int) -> Iterator[Example]:
    """Each kind of target and of reduction."""
    for dtype, index, reduction in ((FLOAT, INT64, 0), (FLOAT, INT32, 1), (BF16, UINT8, 2)):
        yield {
            "self": numbers((6, 5, *pixels), dtype, 1),
            "target": between(0, 5, (6, *pixels), index, 7),
            "weight": numbers((5,), dtype, 2),
            "reduction": reduction,
            "ignoreIndex": 3,
            "out": numbers((6, *pixels) if reduction == 0 else (1,), dtype, 3),
            "totalWeightOut": numbers((1,), dtype, 4),
        }


def gradient_examples(*pixels: int, one: tuple[int, ...], dtype: DType) -> Iterator[Example]:
    """A gradient for each target in FLOAT, and ``one`` for their mean in another ``dtype``."""
    for grad, kind, index, reduction in (((6, *pixels), FLOAT, INT64, 0), (one, dtype, UINT8, 1)):
        yield {
            "gradOutput": numbers(grad, kind, 1),
            "self": numbers((6, 5, *pixels), kind, 2),
            "target": between(0, 5, (6, *pixels), index, 7),
            "weight": numbers((5,), kind, 3),
            "reduction": reduction,
            "ignoreIndex": 3,
            "totalWeight": np.array([2.5], kind.numpy),
            "out": numbers((6, 5, *pixels), kind, 4),
        }
