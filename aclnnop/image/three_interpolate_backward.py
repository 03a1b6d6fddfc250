"""aclnnThreeInterpolateBackward: gradients of points, given back to the three points that each was interpolated from."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntKind,
    Operand,
    Out,
    Plan,
    between,
    direct,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.image.upsampling import NEWER
from aclnnop.index.places import within

TYPES = (FLOAT, FLOAT16)


@operator(products=NEWER)
def aclnnThreeInterpolateBackward(
    grad_x: Annotated[Operand, In(*TYPES)],
    idx: Annotated[Operand, In(INT32, INT64, rank=3)],
    weight: Annotated[Operand, In(*TYPES, rank=3)],
    m: Annotated[int, IntKind("int")],
    grad_y: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Add up, for each of ``m`` points, the gradients of the points it was used for, by their weights."""
    rank_in(grad_x, 3, 4)
    same_dtype(grad_x, weight, grad_y)
    samples, channels, count, *rest = grad_x.shape
    require(rest in ([], [1]), f"grad_x has shape {list(grad_x.shape)}, expected 1 as its last of four dimensions")
    for operand in (idx, weight):
        shape_is(operand, (samples, count, 3), "three neighbours of each point")
    require(m > 0, f"m is {m}, expected a value above 0")
    shape_is(grad_y, (samples, channels, m, *rest), "samples, channels and m")
    if 0 in grad_y.shape:
        return nothing()
    return direct(returned, reads=(grad_x, idx, weight), writes=(grad_y,), scratch={}, count=m, name=idx.name)


def returned(grad: Array, idx: Array, weight: Array, out: Array, *, count: int, name: str) -> None:
    """In float64, rounded once."""
    places = within(idx, count, name)
    samples, channels = out.shape[:2]
    given = grad.reshape(samples, channels, -1, 1).astype(np.float64) * weight[:, None].astype(np.float64)
    rows = np.arange(samples * channels).reshape(samples, channels, 1, 1) * count + places[:, None]
    out[...] = np.bincount(rows.reshape(-1), weights=given.reshape(-1), minlength=out.size).reshape(out.shape)


@aclnnThreeInterpolateBackward.example
def examples() -> Iterator[Example]:
    """With three dimensions and with four."""
    for dtype, index, rest in ((FLOAT, INT32, ()), (FLOAT16, INT64, (1,))):
        yield {
            "grad_x": numbers((2, 3, 5, *rest), dtype, 1),
            "idx": between(0, 6, (2, 5, 3), index, 2),
            "weight": numbers((2, 5, 3), dtype, 3),
            "m": 6,
            "grad_y": numbers((2, 3, 6, *rest), dtype, 4),
        }
