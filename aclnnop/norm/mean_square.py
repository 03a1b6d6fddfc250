"""Rows divided by the root of their mean square: what RMS normalisation, its fused forms and its gradient share."""

from __future__ import annotations

from typing import Any

import numpy as np

from acl_emu.runtime.tensor import Shape
from acl_emu.spec import Array, Operand, require, total
from aclnnop.norm.rows import Axes, selected


def normalised(x: Array, axes: Axes, count: int, epsilon: float) -> tuple[Array, Array]:
    """The rows and their factors; an infinite element stays infinite. Squares may be too large for float32."""
    squares = np.square(x.astype(np.float64)).sum(axis=axes, keepdims=True)
    rms = np.sqrt(squares / count + epsilon).astype(x.dtype)
    return np.where(np.abs(x) == np.inf, x, x / rms), 1 / rms


def normalised_rows(x: Array, gamma: Array, *, axes: Axes, count: int, epsilon: float) -> tuple[Array, Array]:
    """Times gamma; and the factors."""
    values, rstd = normalised(x, axes, count, epsilon)
    return values * gamma, rstd


def added_rows(
    x1: Array, x2: Array, gamma: Array, *, axes: Axes, count: int, epsilon: float, wanted: tuple[bool, ...]
) -> tuple[Array, ...]:
    """The rows of a sum; of these, their factors and the sum those that are wanted."""
    x = x1 + x2
    return selected((*normalised_rows(x, gamma, axes=axes, count=count, epsilon=epsilon), x), wanted)


def input_gradient(grad: Array, x: Array, rstd: Array, gamma: Array, *, axes: Axes, count: int) -> tuple[Array]:
    """With respect to the elements: what is left of the gradient when its part along the row is taken out."""
    unit, weighed = x * rstd, grad * gamma
    return ((weighed - unit * (total(weighed * unit, axes, keepdims=True) / count)) * rstd,)


def gamma_gradient(grad: Array, x: Array, rstd: Array, *, axes: Axes) -> tuple[Array]:
    """With respect to gamma."""
    return (total(x * rstd * grad, axes, keepdims=True),)


def ends_with(x: Operand, gamma: Operand) -> Shape:
    """The shape of the factors of rows: as ``x``, with length 1 in the dimensions of ``gamma``, which are the last ones."""
    rest = x.rank - gamma.rank
    require(
        0 < gamma.rank <= x.rank and gamma.shape == x.shape[rest:],
        f"{gamma.name} has shape {list(gamma.shape)}, expected the last dimensions of {x.name}, at least one: {list(x.shape)}",
    )
    require(gamma.size > 0, f"{gamma.name} has shape {list(gamma.shape)}, expected no length of 0")
    return (*x.shape[:rest], *(1,) * gamma.rank)


def over_rows(x: Operand, gamma: Operand) -> dict[str, Any]:
    """What kernels have to know that reduce the dimensions of ``gamma``."""
    return {"axes": tuple(range(x.rank - gamma.rank, x.rank)), "count": gamma.size}
