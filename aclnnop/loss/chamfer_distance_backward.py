"""aclnnChamferDistanceBackward: gradient of the squared distances between two sets of points in the plane."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import FLOAT, FLOAT16, INT32
from acl_emu.spec import Array, In, Operand, Out, Plan, Product, castable, mapped, operator, promote, require, shape_is

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
    return mapped(
        gradients,
        reads=(xyz1, xyz2, idx1, idx2, gradDist1, gradDist2),
        writes=(gradXyz1, gradXyz2),
        via=dtype,
        compute=np.float64,
        raw=(idx1, idx2),
    )


def gradients(xyz1: Array, xyz2: Array, idx1: Array, idx2: Array, grad1: Array, grad2: Array) -> tuple[Array, Array]:
    """``2 * grad * (point - nearest)`` for the point, the opposite for the nearest; an index of no point has no part in it."""
    result1, result2 = np.zeros(xyz1.shape), np.zeros(xyz2.shape)
    for points, others, nearest, grad, own, opposite in (
        (xyz1, xyz2, idx1, grad1, result1, result2),
        (xyz2, xyz1, idx2, grad2, result2, result1),
    ):
        count = others.shape[1]
        for batch, index in enumerate(nearest):  # what is picked from one set stays in the cache
            point = np.flatnonzero((index >= 0) & (index < count))
            other = index[point]
            pull = 2 * grad[batch, point, np.newaxis] * (points[batch, point] - others[batch, other])
            own[batch, point] += pull
            for axis in range(pull.shape[1]):
                opposite[batch, :, axis] -= np.bincount(other, pull[:, axis], count)
    return result1, result2
