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
    return direct(
        gradients,
        reads=(xyz1, xyz2, idx1, idx2, gradDist1, gradDist2),
        writes=(gradXyz1, gradXyz2),
        scratch={
            "nearest1": (xyz1.shape, xyz2.dtype.numpy),
            "nearest2": (xyz2.shape, xyz1.dtype.numpy),
            "pull1": (xyz1.shape, np.float64),
            "pull2": (xyz2.shape, np.float64),
            "total2": (xyz2.shape, np.float64),
        },
        dtype=dtype,
    )


def gradients(
    xyz1: Array,
    xyz2: Array,
    idx1: Array,
    idx2: Array,
    grad1: Array,
    grad2: Array,
    out1: Array,
    out2: Array,
    *,
    nearest1: Array,
    nearest2: Array,
    pull1: Array,
    pull2: Array,
    total2: Array,
    dtype: DType,
) -> None:
    """``2 * grad * (point - nearest)`` for the point, the opposite for the nearest; an index of no point has no part in it."""
    idx1, idx2 = np.ascontiguousarray(idx1), np.ascontiguousarray(idx2)
    pulls(xyz1, xyz2, idx1, grad1, nearest1, pull1)
    pulls(xyz2, xyz1, idx2, grad2, nearest2, pull2)
    cast(pull2, total2)
    subtract_rows(total2, idx1, pull1)
    subtract_rows(pull1, idx2, pull2)
    for total, out in ((pull1, out1), (total2, out2)):
        rounded = out if out.dtype == dtype.numpy else np.empty(out.shape, dtype.numpy)
        cast(total, rounded)
        if rounded is not out:
            cast(rounded, out)


def pulls(points: Array, others: Array, index: Array, grad: Array, nearest: Array, result: Array) -> None:
    """What draws each point to the nearest one of the other set, in float64."""
    take_rows(np.ascontiguousarray(others), index, nearest)
    inside = (index >= 0) & (index < others.shape[1])
    for axis in range(points.shape[2]):
        apply(pull, (points[..., axis], nearest[..., axis], grad, inside), (result[..., axis],), compute=np.float64)


def pull(point: Array, nearest: Array, grad: Array, inside: Array) -> Array:
    """The gradient of a squared distance, where there is one."""
    return np.where(inside, 2 * grad * (point - nearest), 0)
