"""aclnnNonMaxSuppression: the boxes that score best, without those that overlap a better one."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32
from acl_emu.core.errors import AclnnRuntime
from acl_emu.runtime.tensor import FloatArray, IntArray
from acl_emu.spec import (
    Array,
    Example,
    HandleKind,
    In,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.objdetect.boxes import Box, columns, overlap
from aclnnop.objdetect.ciou import corners

TYPES = (FLOAT, FLOAT16)
MOST_BOXES = 700
Fractions = Annotated[FloatArray, HandleKind(FloatArray, const=False)]


@operator(products=frozenset({Product.A310P}), elsewhere=AclnnRuntime)
def aclnnNonMaxSuppression(
    boxes: Annotated[Operand, In(*TYPES, rank=3)],
    scores: Annotated[Operand, In(*TYPES, rank=3)],
    maxOutputBoxesPerClass: Annotated[IntArray, HandleKind(IntArray, const=False)],
    iouThreshold: Fractions,
    scoreThreshold: Fractions,
    centerPointBox: Annotated[int, IntKind("int32_t")],
    selectedIndices: Annotated[Operand, Out(INT32, rank=2)],
) -> Plan:
    """Choose boxes of each class by their scores; the indices are those of sample, class and box."""
    same_dtype(boxes, scores)
    samples, _, count = scores.shape
    shape_is(boxes, (samples, count, 4), "a box for each score")
    shape_is(selectedIndices, (selectedIndices.shape[0], 3), "sample, class and box")
    for name, array in (("iouThreshold", iouThreshold), ("scoreThreshold", scoreThreshold)):
        require(len(array) == 1, f"{name} has {len(array)} values, expected 1")
        require(0 <= array.values[0] <= 1, f"{name} is {list(array.values)}, expected a value from 0 to 1")
    require(centerPointBox in (0, 1), f"centerPointBox is {centerPointBox}, expected 0 or 1")
    most = maxOutputBoxesPerClass
    require(len(most) == 1, f"maxOutputBoxesPerClass has {len(most)} values, expected 1")
    require(0 <= most.values[0] <= MOST_BOXES, f"maxOutputBoxesPerClass is {list(most.values)}, expected a value from 0 to {MOST_BOXES}")
    if 0 in selectedIndices.shape:
        return nothing()
    limits = {"most": most.values[0], "alike": iouThreshold.values[0], "least": scoreThreshold.values[0]}
    return direct(chosen, reads=(boxes, scores), writes=(selectedIndices,), scratch={}, centred=centerPointBox == 1, **limits)


def chosen(boxes: Array, scores: Array, out: Array, *, centred: bool, most: int, alike: float, least: float) -> None:
    """Rows behind the last box that is chosen are -1."""
    rows: list[tuple[int, int, int]] = []
    for sample, class_ in np.ndindex(*scores.shape[:2]):
        box = columns(boxes[sample])
        rows += [(sample, class_, one) for one in _best(corners(box) if centred else box, scores[sample, class_], most, alike, least)]
    out[...] = -1
    rows = rows[: out.shape[0]]
    out[: len(rows)] = np.array(rows, np.int32).reshape(-1, 3)


def _best(box: Box, scores: Array, most: int, alike: float, least: float) -> Iterator[int]:
    """The best box that is left, again and again; of equal ones the first."""
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    left = order[scores[order].astype(np.float64) > least]
    for _ in range(most):
        if not left.size:
            return
        best, left = left[0], left[1:]
        yield int(best)
        left = left[overlap([one[best] for one in box], [one[left] for one in box]) <= alike]


@aclnnNonMaxSuppression.example
def examples() -> Iterator[Example]:
    """Boxes in two groups, of two classes."""
    low = np.array([[0, 0], [0.1, 0.2], [0.3, 0], [5, 5], [5.2, 5], [5, 5.6], [9, 1]])
    boxes = np.concatenate([low, low + 2], 1)
    centres = np.concatenate([low, np.full((7, 2), 2)], 1)
    scores = np.array([[0.9, 0.8, 0.7, 0.6, 0.65, 0.5, 0.2], [0.1, 0.6, 0.3, 0.2, 0.9, 0.9, 0.05]])
    for dtype, centre, given in ((FLOAT, 0, boxes), (FLOAT16, 1, centres)):
        yield {
            "boxes": given[None].astype(dtype.numpy),
            "scores": scores[None].astype(dtype.numpy),
            "maxOutputBoxesPerClass": [3],
            "iouThreshold": [0.5],
            "scoreThreshold": [0.1],
            "centerPointBox": centre,
            "selectedIndices": np.zeros((8, 3), np.int32),
        }
