"""aclnnChamferDistanceBackward: gradient of the squared distances between two sets of points in the plane."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32, DType, from_numpy, round_to
from acl_emu.engine.calls import code_of, done_by
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    between,
    castable,
    direct,
    nothing,
    numbers,
    operator,
    promote,
    require,
    shape_is,
)

Points = Annotated[Operand, In(FLOAT, FLOAT16, rank=3)]
Nearest = Annotated[Operand, In(INT32, rank=2)]
PointGrad = Annotated[Operand, In(FLOAT, FLOAT16, rank=2)]
THREADED_NUMBERS = 1 << 14
"""Coordinates that are worth a second thread."""
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
    sets = ((xyz1, idx1, gradDist1, gradXyz1), (xyz2, idx2, gradDist2, gradXyz2))
    for points, nearest, grad, out in sets:
        castable(dtype, out)
        require(points.shape[::2] == (batch, 2), f"{points.name} has shape {list(points.shape)}, expected ({batch}, points, 2)")
        shape_is(nearest, points.shape[:2], f"one for each point of {points.name}")
        shape_is(grad, points.shape[:2], f"one for each point of {points.name}")
        shape_is(out, points.shape, f"as {points.name}")
    if gradXyz1.size == gradXyz2.size == 0:
        return nothing()
    plan = direct(
        gradients,
        reads=(xyz1, xyz2, idx1, idx2, gradDist1, gradDist2),
        writes=(gradXyz1, gradXyz2),
        scratch={"total1": (xyz1.shape, np.float64), "total2": (xyz2.shape, np.float64)},
        dtype=dtype,
    )
    numbers = [batch, code_of(dtype)]
    for points, nearest, grad, out in sets:
        steps = [operand.view.layout.strides for operand in (points, nearest, grad, out)]
        numbers += [points.shape[1], code_of(points.dtype), *steps[0], *steps[1]]
        numbers += [code_of(grad.dtype), *steps[2], code_of(out.dtype), *steps[3]]
    return done_by("acl_emu_points_gradient", plan, numbers, threaded=batch > 1 and xyz1.size + xyz2.size >= THREADED_NUMBERS)


@aclnnChamferDistanceBackward.example
def examples() -> Iterator[Example]:
    """Clouds of one type, and of two."""
    for first, second, out in ((FLOAT, FLOAT, FLOAT), (FLOAT16, FLOAT16, FLOAT16), (FLOAT16, FLOAT, FLOAT16)):
        yield {
            "xyz1": numbers((2, 5, 2), first, 1),
            "xyz2": numbers((2, 4, 2), second, 2),
            "idx1": between(0, 4, (2, 5), INT32, 7),
            "idx2": between(0, 5, (2, 4), INT32, 7),
            "gradDist1": numbers((2, 5), first, 3),
            "gradDist2": numbers((2, 4), second, 4),
            "gradXyz1": numbers((2, 5, 2), out, 5),
            "gradXyz2": numbers((2, 4, 2), out, 6),
        }


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
    total1: Array,
    total2: Array,
    dtype: DType,
) -> None:
    """``2 * grad * (point - nearest)`` for the point, the opposite for the nearest; an index of no point has no part in it."""
    total1[...], total2[...] = 0, 0
    for points, others, index, grad, own, other in ((xyz1, xyz2, idx1, grad1, total1, total2), (xyz2, xyz1, idx2, grad2, total2, total1)):
        here = np.nonzero((index >= 0) & (index < others.shape[1]))
        there = (here[0], index[here])
        pulls = 2 * grad[here].astype(np.float64)[:, np.newaxis] * (points[here].astype(np.float64) - others[there])
        own[here] += pulls
        np.subtract.at(other, there, pulls)
    for total, out in ((total1, out1), (total2, out2)):
        out[...] = round_to(round_to(total, dtype), from_numpy(out.dtype))
