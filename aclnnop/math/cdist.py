"""aclnnCdist: distances between two sets of points."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import (
    Array,
    Example,
    Float,
    In,
    Int,
    Operand,
    Out,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.math.distances import norm, require_norm, row_pieces
from aclnnop.math.triangular_solve import joined
from aclnnop.math.unary import NEWER

PointsIn = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=(2, 8))]


@operator(products=NEWER)
def aclnnCdist(
    x1: PointsIn, x2: PointsIn, p: Float, compute_mode: Int, out: Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=(2, 8))]
) -> Plan:
    """Give the distance of each point of ``x1`` to each of ``x2`` by the norm ``p``; ``compute_mode`` is reserved."""
    same_dtype(x1, x2, out)
    require(
        x1.shape[-1] == x2.shape[-1], f"x2 has shape {list(x2.shape)}, expected points of as many elements as those of x1: {x1.shape[-1]}"
    )
    require_norm("p", p)
    batch = joined(x1, x2)
    shape_is(out, (*batch, x1.shape[-2], x2.shape[-2]), "a distance for every two points")
    return nothing() if out.size == 0 else direct(between_sets, reads=(x1, x2), writes=(out,), scratch={}, p=p, batch=batch)


def between_sets(first: Array, second: Array, out: Array, *, p: float, batch: Shape) -> None:
    """In double precision, some points of the first set at a time."""
    one, other = (np.broadcast_to(points, (*batch, *points.shape[-2:])).astype(np.float64) for points in (first, second))
    for rows in row_pieces(one.shape[-2], other.size):
        found = norm(one[..., rows, np.newaxis, :] - other[..., np.newaxis, :, :], p)
        out[..., rows, :] = dtypes.round_to(found, dtypes.from_numpy(out.dtype))


@aclnnCdist.example
def examples() -> Iterator[Example]:
    """Some norms; batches that broadcast."""
    for dtype, p in ((FLOAT, 2.0), (FLOAT16, 1.0), (BF16, 0.0), (FLOAT, np.inf), (FLOAT, 0.5)):
        yield {
            "x1": numbers((2, 1, 4, 3), dtype, 1),
            "x2": numbers((5, 6, 3), dtype, 2),
            "p": p,
            "compute_mode": 2,
            "out": numbers((2, 5, 4, 6), dtype, 3),
        }
