"""Gradients of the Kullback-Leibler divergence of ``target`` from ``self``, with respect to either."""

import enum
import math
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Example,
    IntKind,
    Operand,
    Plan,
    broadcast_shape,
    broadcasts_to,
    mapped,
    numbers,
    promote,
    same_dtype,
    same_shape,
    total,
)


class DivergenceReduction(enum.IntEnum):
    """How a divergence is reduced; a batch mean is divided by the first length of self."""

    NONE = 0
    MEAN = 1
    SUM = 2
    BATCHMEAN = 3


DivergenceMode = Annotated[int, IntKind(choices=DivergenceReduction, checked=False)]
"""Any other value is none of the means."""


def divergence_gradient(
    slope: Callable[..., Array], grad: Operand, self: Operand, target: Operand, reduction: int, log_target: bool, of: Operand, out: Operand
) -> Plan:
    """``grad * slope(self, target)`` with respect to ``of``: summed over the axes that it broadcasts along."""
    same_dtype(of, out)
    shape = broadcast_shape(self, target)
    broadcasts_to(shape, "that of self and target together", grad)
    same_shape(of, out)
    counts: dict[int, int] = {DivergenceReduction.MEAN: math.prod(shape), DivergenceReduction.BATCHMEAN: self.shape[0] if self.rank else 1}
    return mapped(
        summed_chain,
        reads=(grad, self, target),
        writes=(out,),
        dtype=promote(grad, self, target),
        slope=slope,
        count=counts.get(reduction, 1),
        shape=shape,
        onto=of.shape,
        log_target=log_target,
    )


def summed_chain(grad: Array, x: Array, y: Array, *, slope: Any, count: int, shape: Any, onto: Any, log_target: bool) -> Array:
    """The chain rule, with the sum that undoes a broadcast."""
    whole = np.broadcast_to(grad * slope(x, y, log_target) / count, shape)
    padded = (1,) * (len(shape) - len(onto)) + onto
    axes = tuple(axis for axis, (length, own) in enumerate(zip(shape, padded, strict=True)) if length != own)
    return total(whole, axes, keepdims=True).reshape(onto)


def divergence_examples(out: str) -> Iterator[Example]:
    """A plain call, and one of mixed types that takes logarithms."""
    for grad, dtype, mode, log_target in ((FLOAT, FLOAT, 0, False), (BF16, FLOAT16, 3, True)):
        yield {
            "gradOutput": numbers((4, 1), grad, 1),
            "self": numbers((3, 4, 5), dtype, 2),
            "target": np.abs(numbers((3, 4, 5), dtype, 3)),
            "reduction": mode,
            "logTarget": log_target,
            out: numbers((3, 4, 5), dtype, 4),
        }
