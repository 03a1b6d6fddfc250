"""aclnnMultilabelMarginLoss: hinge loss between the classes that a sample has and those that it has not."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64, DType, round_to
from acl_emu.native import apply
from acl_emu.native.casting import cast
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
    direct,
    nothing,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)


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
    if isTarget.size == 0 and out.size == 0:
        return nothing()
    return direct(margins, reads=(self, target), writes=(out, isTarget), scratch={}, reduction=Reduction(reduction), dtype=self.dtype)


def margins(x: Array, target: Array, out: Array, is_target: Array, *, reduction: Reduction, dtype: DType) -> None:
    """``max(0, 1 - x[own] + x[other])`` summed over all pairs of an own and another class; labels end at the first -1."""
    classes = x.shape[-1]
    samples = np.atleast_2d(x)
    row, label = own_classes(np.atleast_2d(target))
    own = np.zeros(samples.shape, np.bool_)
    own[row, label] = True
    losses = pair_sums(samples, own, row, label).reshape(x.shape[:-1]) / classes
    cast(own.reshape(x.shape), is_target)
    total = losses.sum()
    result = {Reduction.NONE: losses, Reduction.SUM: total, Reduction.MEAN: total / losses.size}[reduction]
    out[...] = round_to(np.asarray(result), dtype)


def own_classes(labels: Array) -> tuple[Array, Array]:
    """Samples and their classes, each once, in order; what is no class is none of them."""
    classes = labels.shape[1]
    padding = labels == -1
    counts = np.where(padding.any(axis=1), padding.argmax(axis=1), classes)
    longest = int(counts.max(initial=0))
    row, place = np.nonzero(np.arange(longest) < counts[:, np.newaxis])
    label = labels[row, place].astype(np.int64)
    inside = (label >= 0) & (label < classes)
    row, label = np.divmod(np.unique(row[inside] * classes + label[inside]), classes)
    return row, label


def pair_sums(x: Array, own: Array, row: Array, label: Array) -> Array:
    """The sum of each sample, one of its classes at a time; samples with many come first, so that the others can be left out."""
    counts = np.bincount(row, minlength=len(x))
    order = np.argsort(-counts, kind="stable")
    if not (counts == counts[order]).all():
        x, own = x[order], own[order]
    first = np.cumsum(counts) - counts
    sums, some = np.zeros(len(x)), np.empty((len(x), 1))
    for number in range(int(counts.max(initial=0))):
        here = slice(0, int(np.count_nonzero(counts > number)))
        mine = x[here][np.arange(here.stop), label[first[order[here]] + number]]
        apply(margins_to, (x[here], own[here], mine[:, np.newaxis]), (some[here],), compute=np.float64)
        sums[order[here]] += some[here, 0]
    return sums


def margins_to(x: Array, own: Array, mine: Array) -> Array:
    """What is missing to the margin between an own class and each of the others, summed."""
    missing: Array = np.where(own, 0, np.maximum(0, 1 - mine + x)).sum(axis=1, keepdims=True)
    return missing
