"""What normalisations share: rows, in whatever axes, less their mean and divided by their standard deviation, and the gradients.

Means are taken in float64 and subtracted in two parts, so that rows far from zero keep their digits; variances are of the differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from acl_emu.core.errors import AclnnNullptr
from acl_emu.runtime.tensor import BoolArray
from acl_emu.spec import AFTER_NULL, NULL, Array, Operand, Operator, require, total

LEAST_ROW = 32
"""Bytes of a row of gamma that 310P asks for."""

Axes = tuple[int, ...]


def centred(x: Array, axes: Axes, count: int) -> tuple[Array, Array]:
    """The elements less the mean of their row; and the means."""
    mean = x.sum(axis=axes, dtype=np.float64, keepdims=True) / count
    high = mean.astype(x.dtype)
    low = (mean - high).astype(x.dtype)
    return x - high - low, high


def variance(differences: Array, axes: Axes, count: int) -> Array:
    """That of rows, in float64, of which squares need more range than float32 has."""
    found: Array = np.square(differences.astype(np.float64)).sum(axis=axes, keepdims=True) / count
    return found


def scaled(values: Array, weight: Array | None, bias: Array | None) -> Array:
    """Times the weight, plus the bias, where there are any."""
    weighed = values if weight is None else values * weight
    return weighed if bias is None else weighed + bias


def normalised(x: Array, axes: Axes, count: int, eps: float) -> tuple[Array, Array, Array]:
    """The normalised elements; means and inverse standard deviations."""
    differences, mean = centred(x, axes, count)
    rstd = (1 / np.sqrt(variance(differences, axes, count) + eps)).astype(x.dtype)
    return differences * rstd, mean, rstd


def normalised_rows(
    x: Array, weight: Array | None, bias: Array | None, *, axes: Axes, count: int, eps: float, wanted: tuple[bool, ...]
) -> tuple[Array, ...]:
    """Of the rows, means and inverse standard deviations those that are wanted."""
    values, mean, rstd = normalised(x, axes, count, eps)
    return selected((scaled(values, weight, bias), mean, rstd), wanted)


def input_gradient(grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, *, axes: Axes, count: int) -> tuple[Array]:
    """With respect to the elements: what is left of the gradient when the row's mean and its part along the row are taken out."""
    unit = (x - mean) * rstd
    weighed = scaled(grad, weight, None)
    offset = total(weighed, axes, keepdims=True) / count
    slope = total(weighed * unit, axes, keepdims=True) / count
    return ((weighed - offset - unit * slope) * rstd,)


def factor_gradients(grad: Array, x: Array, mean: Array, rstd: Array, *, axes: Axes, wanted: tuple[bool, ...]) -> tuple[Array, ...]:
    """With respect to weight and bias, summed over the axes that they broadcast along."""
    return selected((total(grad * ((x - mean) * rstd), axes, keepdims=True), total(grad, axes, keepdims=True)), wanted)


def selected(results: tuple[Any, ...], wanted: tuple[bool, ...]) -> tuple[Any, ...]:
    """Those that are wanted."""
    return tuple(result for result, takes in zip(results, wanted, strict=True) if takes)


def MASKED(operator: Operator, values: tuple[Any, ...]) -> None:
    """161001 for an output, one of the last three parameters, that outputMask asks for and that is null."""
    mask: BoolArray = values[operator.names.index("outputMask")]
    for name, wanted, output in zip(operator.names[-3:], mask.values, values[-3:], strict=False):
        if wanted and output is None:
            raise AclnnNullptr(f"{name} must not be a null pointer where outputMask asks for it")


MASK_CHECKS = (NULL, MASKED, *AFTER_NULL)


def masked(outputMask: BoolArray, *outputs: Operand | None) -> list[Operand | None]:
    """The outputs that a mask asks for; None for the others."""
    require(len(outputMask) == len(outputs), f"outputMask has {len(outputMask)} elements, expected {len(outputs)}")
    return [output if wanted else None for output, wanted in zip(outputs, outputMask.values, strict=True)]
