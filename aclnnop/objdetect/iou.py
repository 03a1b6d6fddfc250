"""aclnnIou: how far boxes overlap."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    Float,
    In,
    Operand,
    Out,
    Plan,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.image.upsampling import FLOATS, INFERENCE
from aclnnop.objdetect.boxes import columns, overlap

Mode = Annotated[str, StringKind(choices=("iou", "iof"))]


@operator(products=INFERENCE, elsewhere=AclnnRuntime)
def aclnnIou(
    bBoxes: Annotated[Operand, In(*FLOATS, rank=2)],
    gtBoxes: Annotated[Operand, In(*FLOATS, rank=2)],
    mode: Mode,
    eps: Float,
    aligned: Bool,
    overlap: Annotated[Operand, Out(*FLOATS, rank=2)],
) -> Plan:
    """Divide the area that two boxes share by that of both together, or (``iof``) by that of the second one."""
    same_dtype(bBoxes, gtBoxes, overlap)
    for operand in (bBoxes, gtBoxes):
        shape_is(operand, (operand.shape[0], 4), "four coordinates for each box")
    count, others = bBoxes.shape[0], gtBoxes.shape[0]
    require(not aligned or count == others, f"gtBoxes has {others} boxes, expected as many as bBoxes with aligned: {count}")
    shape_is(overlap, (count, 1 if aligned else others), "pairs of boxes")
    require(eps >= 0, f"eps is {eps}, expected at least 0")
    if 0 in overlap.shape:
        return nothing()
    settings = {"eps": eps, "aligned": aligned, "foreground": mode == "iof"}
    return direct(overlaps, reads=(bBoxes, gtBoxes), writes=(overlap,), scratch={}, **settings)


def overlaps(first: Array, second: Array, out: Array, *, eps: float, aligned: bool, foreground: bool) -> None:
    """Each box with the one beside it, or each with all."""
    others = columns(second if aligned else second[None])
    out[...] = (
        overlap(columns(first), others, eps, foreground=foreground)[:, None]
        if aligned
        else overlap([one[:, None] for one in columns(first)], others, eps, foreground=foreground)
    )


@aclnnIou.example
def examples() -> Iterator[Example]:
    """Boxes that overlap, contain each other, and lie apart."""
    for dtype, mode, aligned, eps in ((FLOAT, "iou", True, 0.0), (FLOAT16, "iof", False, 0.0), (BF16, "iou", False, 1.0)):
        corners = np.abs(numbers((2, 3, 2), FLOAT, 1, 4))
        boxes = np.concatenate([corners, corners + 1 + np.abs(numbers((2, 3, 2), FLOAT, 2, 4))], -1).astype(dtype.numpy)
        yield {
            "bBoxes": boxes[0],
            "gtBoxes": boxes[1],
            "mode": mode,
            "eps": eps,
            "aligned": aligned,
            "overlap": numbers((3, 1 if aligned else 3), dtype, 3),
        }
