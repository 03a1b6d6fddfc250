"""aclnnCIoU: how far boxes overlap, less for boxes far apart or of another form."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.objdetect.boxes import Box, columns, overlap
from aclnnop.objdetect.iou import Mode

TYPES = (FLOAT, FLOAT16)


@operator(products=frozenset({Product.A950}))
def aclnnCIoU(
    bBoxes: Annotated[Operand, In(*TYPES, rank=2)],
    gtBoxes: Annotated[Operand, In(*TYPES, rank=2)],
    trans: Bool,
    isCross: Bool,
    mode: Mode,
    overlap: Annotated[Operand, Out(*TYPES, rank=2)],
    atanSub: Annotated[Operand, Out(*TYPES, rank=2)],
) -> Plan:
    """Take the overlap, less the distance of the centres, and less the difference of the forms."""
    same_dtype(bBoxes, gtBoxes, overlap, atanSub)
    count = bBoxes.shape[1]
    for operand in (bBoxes, gtBoxes):
        shape_is(operand, (4, count), "four coordinates for each box")
    require(count % 1024 == 0, f"bBoxes has {count} boxes, expected a multiple of 1024")
    for operand in (overlap, atanSub):
        shape_is(operand, (1, count), "one for each box")
    require(not isCross, "isCross is true, expected false")
    if not count:
        return nothing()
    return direct(complete, reads=(bBoxes, gtBoxes), writes=(overlap, atanSub), scratch={}, centred=trans, foreground=mode == "iof")


def corners(box: Box) -> Box:
    """Of boxes that are given by centre and lengths."""
    x, y, wide, high = box
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def complete(first: Array, second: Array, out: Array, angle: Array, *, centred: bool, foreground: bool) -> None:
    """A term of the formula that divides 0 by 0 is 0."""
    one, other = (corners(columns(boxes, 0)) if centred else columns(boxes, 0) for boxes in (first, second))
    found = overlap(one, other, foreground=foreground)
    turn = np.arctan2(other[2] - other[0], other[3] - other[1]) - np.arctan2(one[2] - one[0], one[3] - one[1])
    apart = [(one[k] + one[k + 2] - other[k] - other[k + 2]) / 2 for k in (0, 1)]
    around = [np.maximum(one[k + 2], other[k + 2]) - np.minimum(one[k], other[k]) for k in (0, 1)]
    form = 4 / np.pi**2 * turn**2
    out[...] = found - _quotient(_squared(apart), _squared(around)) - _quotient(form * form, 1 - found + form)
    angle[...] = turn


def _squared(lengths: Sequence[Array]) -> Array:
    found: Array = lengths[0] ** 2 + lengths[1] ** 2
    return found


def _quotient(top: Array, bottom: Array) -> Array:
    found: Array = np.where(bottom == 0, 0, top / np.where(bottom == 0, 1, bottom))
    return found


@aclnnCIoU.example
def examples() -> Iterator[Example]:
    """Boxes by corners and by centres."""
    for dtype, trans, mode in ((FLOAT, False, "iou"), (FLOAT16, True, "iof")):
        low = numbers((2, 2, 1024), FLOAT, 1)
        size = 0.5 + np.abs(numbers((2, 2, 1024), FLOAT, 2))
        boxes = np.concatenate([low, size if trans else low + size], 1).astype(dtype.numpy)
        results = {"overlap": numbers((1, 1024), dtype, 3), "atanSub": numbers((1, 1024), dtype, 4)}
        yield {"bBoxes": boxes[0], "gtBoxes": boxes[1], "trans": trans, "isCross": False, "mode": mode, **results}
