"""Softmax and its relatives along one axis: kernels, and the plans that forward and backward operators share."""

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import (
    AFTER_NULL,
    EMPTY,
    NULL,
    Array,
    Example,
    Operand,
    Out,
    Plan,
    castable,
    mapped,
    nothing,
    numbers,
    same_dtype,
    same_shape,
    total,
    wrap_dim,
)

AnyOut = Annotated[Operand, Out()]


def axis_of(dim: int, operand: Operand) -> int | None:
    """The axis to reduce; None reduces a 0-dim tensor, which is a row of one."""
    axis = wrap_dim(dim, operand)
    return axis if operand.rank else None


def forward_plan(kernel: Callable[..., Array], self: Operand, dim: int, out: Operand) -> Plan:
    """``kernel`` along ``dim``."""
    axis = axis_of(dim, self)
    if 0 in self.shape:  # whatever out is
        return nothing()
    same_shape(self, out)
    return mapped(kernel, reads=(self,), writes=(out,), dtype=self.dtype, axis=axis)


GRADIENT_CHECKS = (NULL, EMPTY, *AFTER_NULL)


def gradient_plan(kernel: Callable[..., Array], grad: Operand, output: Operand, dim: int, out: Operand) -> Plan:
    """``kernel`` along ``dim``, cast to any type that can hold the result."""
    same_dtype(grad, output)
    castable(grad.dtype, out)
    same_shape(grad, output, out)
    axis = axis_of(dim, grad)
    return mapped(kernel, reads=(grad, output), writes=(out,), dtype=grad.dtype, axis=axis)


def is_alone(x: Array, axis: int | None) -> bool:
    """Whether rows have one element: it is its own maximum, and all that is left of it is whether it is finite."""
    return axis is None or x.shape[axis] == 1


def softmax(x: Array, *, axis: int | None) -> Array:
    """Exponentials below the maximum, so that none overflows, over their sum."""
    if is_alone(x, axis):
        return x - x + 1
    exponentials: Array = np.exp(x - x.max(axis=axis, keepdims=True))
    shares: Array = exponentials / total(exponentials, axis, keepdims=True)
    return shares


def log_softmax(x: Array, *, axis: int | None) -> Array:
    """Differences to the maximum, less the logarithm of the sum of their exponentials."""
    if axis is None or is_alone(x, axis):
        return x - x
    differences = x - x.max(axis=axis, keepdims=True)
    logarithms: Array = differences - np.log1p(rest_of_exponentials(differences, axis))
    return logarithms


def rest_of_exponentials(differences: Array, axis: int) -> Array:
    """The sum of exponentials without the 1 of a maximum: it may be tiny, and log1p keeps its digits."""
    largest = differences == 0
    others = total(np.where(largest, 0, np.exp(differences)), axis, keepdims=True)
    rest: Array = others + (total(largest.astype(differences.dtype), axis, keepdims=True) - 1)
    return rest


def softmax_gradient(grad: Array, output: Array, *, axis: int | None) -> Array:
    """What the outputs have in common is taken away from each."""
    slopes: Array = (grad - total(grad * output, axis, keepdims=True)) * output
    return slopes


def log_softmax_gradient(grad: Array, output: Array, *, axis: int | None) -> Array:
    """The softmax-weighted sum is taken away."""
    slopes: Array = grad - np.exp(output) * total(grad, axis, keepdims=True)
    return slopes


def forward_examples() -> Iterator[Example]:
    """A middle axis, in types that the result may have."""
    for dtype, out in ((FLOAT, FLOAT), (DOUBLE, DOUBLE), (FLOAT16, FLOAT), (BF16, FLOAT16)):
        yield {"self": numbers((3, 5, 7), dtype, 1, 3), "dim": 1, "out": numbers((3, 5, 7), out, 2)}
