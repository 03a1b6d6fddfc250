"""aclnnChamferDistanceBackward: gradient of the squared distances between two sets of points in the plane."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import FLOAT, FLOAT16, INT32, DType
from acl_emu.indexing import subtract_rows, take_rows
from acl_emu.native import apply
from acl_emu.native.casting import cast
from acl_emu.spec import Array, In, Operand, Out, Plan, Product, castable, direct, nothing, operator, promote, require, shape_is

Points = Annotated[Operand, In(FLOAT, FLOAT16, rank=3)]
Nearest = Annotated[Operand, In(INT32, rank=2)]
PointGrad = Annotated[Operand, In(FLOAT, FLOAT16, rank=2)]
PointsOut = Annotated[Operand, Out(FLOAT, FLOAT16, rank=3)]


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnChamferDistanceBackward(
    xyz1: Points,
    xyz2: Points,
    idx1: Nearest,
    idx2: Nearest,
    gradDist1: PointGrad,
    gradDist2: PointGrad,
    gradXyz1: PointsOut,
    gradXyz2: PointsOut,
) -> Plan:
    """Pull every point to the nearest one of the other set, and that one back."""
    dtype = promote(xyz1, xyz2, gradDist1, gradDist2)
    batch = xyz1.shape[0]
    for points, nearest, grad, out in ((xyz1, idx1, gradDist1, gradXyz1), (xyz2, idx2, gradDist2, gradXyz2)):
        castable(dtype, out)
        require(points.shape[::2] == (batch, 2), f"{points.name} has shape {list(points.shape)}, expected ({batch}, points, 2)")
        shape_is(nearest, points.shape[:2], f"one for each point of {points.name}")
        shape_is(grad, points.shape[:2], f"one for each point of {points.name}")
        shape_is(out, points.shape, f"as {points.name}")
    if gradXyz1.size == gradXyz2.size == 0:
        return nothing()
    reads = (xyz1, xyz2, idx1, idx2, gradDist1, gradDist2)
    return direct(gradients, reads=reads, writes=(gradXyz1, gradXyz2), scratch={}, dtype=dtype)


def gradients(
    xyz1: Array, xyz2: Array, idx1: Array, idx2: Array, grad1: Array, grad2: Array, out1: Array, out2: Array, *, dtype: DType
) -> None:
    """``2 * grad * (point - nearest)`` for the point, the opposite for the nearest; an index of no point has no part in it."""
    idx1, idx2 = (np.asarray(index, np.int64, order="C") for index in (idx1, idx2))
    pull1, pull2 = pulls(xyz1, xyz2, idx1, grad1), pulls(xyz2, xyz1, idx2, grad2)
    for own, opposite, index, out in ((pull1, pull2, idx2, out1), (pull2, pull1, idx1, out2)):
        result = own.copy()
        subtract_rows(result, index, opposite)
        rounded = out if out.dtype == dtype.numpy else np.empty(out.shape, dtype.numpy)
        cast(result, rounded)
        if rounded is not out:
            cast(rounded, out)


def pulls(points: Array, others: Array, nearest: Array, grad: Array) -> Array:
    """What draws each point to the nearest one of the other set, in float64."""
    result = np.empty(points.shape)
    inside = (nearest >= 0) & (nearest < others.shape[1])
    given = (points, take_rows(others, nearest), grad[..., np.newaxis], inside[..., np.newaxis])
    apply(pull, given, (result,), compute=np.float64)
    return result


def pull(point: Array, nearest: Array, grad: Array, inside: Array) -> Array:
    """The gradient of a squared distance, where there is one."""
    return np.where(inside, 2 * grad * (point - nearest), 0)
