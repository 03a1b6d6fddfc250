"""aclnnCdistBackward: the gradient of distances between two sets of points."""

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.spec import (
    Array,
    Example,
    Float,
    In,
    Operand,
    Out,
    Plan,
    between,
    broadcasts_to,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.distances import norm, row_pieces
from aclnnop.math.unary import NEWER

PointsIn = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(2, 7))]


@operator(products=NEWER)
def aclnnCdistBackward(
    grad: PointsIn, x1: PointsIn, x2: PointsIn, cdist: PointsIn, p: Float, out: Annotated[Operand, Out(FLOAT, FLOAT16, BF16)]
) -> Plan:
    """Give the gradient for ``x1`` of distances ``cdist`` to the points ``x2``."""
    same_dtype(grad, x1, x2, cdist, out)
    same_shape(grad, cdist)
    for points in (x1, x2):
        require(points.rank == grad.rank, f"{points.name} has {points.rank} dimensions, expected as many as grad: {grad.rank}")
    shape_is(x1, (*grad.shape[:-1], x1.shape[-1]), "as grad, but for the last dimension")
    broadcasts_to((*grad.shape[:-2], grad.shape[-1], x1.shape[-1]), "by grad and x1", x2)
    require(
        x2.shape[-2:] == (grad.shape[-1], x1.shape[-1]),
        f"x2 has shape {list(x2.shape)}, expected the last dimensions of grad and of x1 as its last",
    )
    same_shape(x1, out)
    return nothing() if out.size == 0 else direct(gradient, reads=(grad, x1, x2, cdist), writes=(out,), scratch={}, p=p)


def gradient(grad: Array, first: Array, second: Array, distance: Array, out: Array, *, p: float) -> None:
    """In double precision, some points of the first set at a time."""
    given, one, other, far = (array.astype(np.float64) for array in (grad, first, second, distance))
    for rows in row_pieces(one.shape[-2], math.prod(grad.shape[:-2]) * math.prod(other.shape[-2:])):
        differences = one[..., rows, np.newaxis, :] - other[..., np.newaxis, :, :]
        shares = slopes(differences, far[..., rows, :, np.newaxis], p, dtypes.from_numpy(out.dtype)) * given[..., rows, :, np.newaxis]
        out[..., rows, :] = dtypes.round_to(shares.sum(axis=-2), dtypes.from_numpy(out.dtype))


def slopes(differences: Array, distance: Array, p: float, dtype: DType) -> Array:
    """How a distance, rounded to a type, grows with each element; 0 where there is no distance, or no difference."""
    sign = np.sign(differences)
    if p == 0:
        return np.zeros_like(differences)
    if p == 1:
        return np.asarray(sign)
    if math.isinf(p):
        return np.asarray(sign * (dtypes.round_to(np.abs(differences), dtype) == distance))
    share: Array = np.where(differences == 0, 0, np.abs(differences) / distance)
    found: Array = np.where((distance == 0) | (differences == 0), 0, sign * np.power(share, p - 1))
    return found


@aclnnCdistBackward.example
def examples() -> Iterator[Example]:
    """Some norms; points that broadcast."""
    for dtype, p in ((FLOAT, 2.0), (FLOAT16, 1.0), (BF16, 3.0), (FLOAT, np.inf), (FLOAT, 0.5)):
        first, second = between(-1, 1, (2, 4, 3), dtype, 1), between(-1, 1, (1, 6, 3), dtype, 2)
        cdist = norm(first[:, :, np.newaxis].astype(np.float64) - second[:, np.newaxis].astype(np.float64), p).astype(dtype.numpy)
        yield {"grad": numbers((2, 4, 6), dtype, 3), "x1": first, "x2": second, "cdist": cdist, "p": p, "out": numbers((2, 4, 3), dtype, 4)}
