"""What element-wise losses share: how a loss is reduced, and how its slope becomes a gradient."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import Array, Example, Operand, Operator, Plan, Reduction, broadcast_shape, mapped, numbers, promote, shape_is
from acl_emu.spec.kinds import TensorKind

Inputs = Sequence[Operand | None]
"""The first is never null."""


def loss(
    pointwise: Callable[..., Array],
    reads: Inputs,
    out: Operand,
    reduction: int,
    *,
    first_axis: bool = False,
    **attributes: Any,
) -> Plan:
    """``pointwise(*reads)``: as it is, or reduced to one number, or along the ``first_axis`` only."""
    dtype, shape = _combined(reads)
    if reduction == Reduction.NONE:
        shape_is(out, shape, "that of the loss when nothing is reduced")
    else:
        shape_is(out, shape[1:] if first_axis else (), "when the loss is reduced")
    return mapped(
        reduce_loss,
        reads=reads,
        writes=(out,),
        dtype=dtype,
        pointwise=pointwise,
        reduction=reduction,
        first_axis=first_axis,
        **attributes,
    )


def reduce_loss(*arrays: Array, pointwise: Callable[..., Array], reduction: int, first_axis: bool, **attributes: Any) -> Array:
    """All of the loss, its sum, or its mean, which for no elements at all is NaN."""
    values = pointwise(*arrays, **attributes)
    if reduction == Reduction.NONE:
        return values
    along_first = first_axis and values.ndim > 0
    sums: Array = values.sum(axis=0 if along_first else None, dtype=wide_sum(values.dtype))
    if reduction == Reduction.MEAN:
        sums = sums / (len(values) if along_first else values.size)
    return sums.astype(values.dtype)


def wide_sum(dtype: Any) -> Any:
    """The type that sums are taken in."""
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def gradient(
    slope: Callable[..., Array],
    reads: Inputs,
    out: Operand,
    reduction: int,
    *,
    factor: float = 1.0,
    **attributes: Any,
) -> Plan:
    """``grad * slope(*others) * factor``, ``grad`` being the first of ``reads``; a mean spreads it over all elements."""
    dtype, shape = _combined(reads)
    shape_is(out, shape, "the inputs' broadcast shape")
    scale = factor / (max(math.prod(shape), 1) if reduction == Reduction.MEAN else 1)
    return mapped(chain, reads=reads, writes=(out,), dtype=dtype, slope=slope, scale=scale, **attributes)


def chain(grad: Array, *arrays: Array, slope: Callable[..., Array], scale: float, **attributes: Any) -> Array:
    """The chain rule; the gradient is scaled first, so that no product is larger than the result."""
    return grad * scale * slope(*arrays, **attributes)


def weighted(values: Array, weight: Array | None) -> Array:
    """No weight is a weight of 1."""
    return values if weight is None else values * weight


def _combined(reads: Inputs) -> tuple[DType, tuple[int, ...]]:
    present = [operand for operand in reads if operand is not None]
    return promote(*present), broadcast_shape(*present)


def pointwise_examples(
    operator: Operator,
    *,
    reduced: tuple[int, ...] | None = None,
    first_axis: bool = False,
    probabilities: tuple[str, ...] = (),
    **attributes: float,
) -> Iterator[Example]:
    """A plain call, a mean, a sum, and one without what may be null; those of gradients have no ``reduced`` shape."""
    tensors = {name: kind for name, kind in operator.parameters if isinstance(kind, TensorKind)}
    *inputs, out = tensors

    def call(shape: tuple[int, ...], dtype: DType, reduction: Reduction) -> Example:
        arrays = {name: numbers(shape, dtype, seed) for seed, name in enumerate(inputs)}
        for name in probabilities:
            arrays[name] = np.minimum(np.abs(arrays[name]), np.ones((), dtype.numpy))
        result = shape
        if reduction != Reduction.NONE and (first_axis or reduced is not None):
            result = shape[1:] if reduced is None else reduced
        return {**arrays, "reduction": int(reduction), **attributes, out: np.full(result, 7, dtype.numpy)}

    yield call((3, 4, 5), FLOAT, Reduction.NONE)
    yield call((3, 4, 5), BF16, Reduction.MEAN)
    yield call((4, 5), FLOAT16, Reduction.SUM)
    optional = [name for name, kind in tensors.items() if kind.optional]
    if optional:
        yield {**call((3, 4, 5), FLOAT, Reduction.NONE), **dict.fromkeys(optional)}
