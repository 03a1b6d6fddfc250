"""aclnnEmbeddingDenseBackward: the gradient of rows that were chosen from a table."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.core.soc import Product
from acl_emu.spec import (
    Array,
    Bool,
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
    require,
    same_dtype,
    shape_is,
)
from aclnnop.conversion.moves import TRAINING
from aclnnop.index.gathering import PLACES, except_on
from aclnnop.index.places import within
from aclnnop.index.row_sums import summed
from aclnnop.index.scattering import groups

FLOATS = (BF16, FLOAT16, FLOAT)
OLDER = except_on(FLOATS, (BF16,), Product.A910)
Count = Annotated[int, IntKind("uint64_t")]
SIGNED = 1 << 63
"""From here on the number of the padding row is a negative one."""


@operator(products=TRAINING)
def aclnnEmbeddingDenseBackward(
    grad: Annotated[Operand, In(*FLOATS, on=OLDER)],
    indices: Annotated[Operand, In(FLOAT, FLOAT16, DOUBLE, INT32, INT64, INT16, INT8, UINT8, BOOL)],
    numWeights: Count,
    paddingIdx: Count,
    scaleGradByFreq: Bool,
    out: Annotated[Operand, Out(*FLOATS, on=OLDER, const=True)],
) -> Plan:
    """Add up the rows of ``grad`` that belong to the same index; the row ``paddingIdx`` is 0."""
    same_dtype(grad, out)
    width = grad.shape[-1] if grad.rank else 1
    require(
        grad.size == indices.size * width,
        f"grad has shape {list(grad.shape)}, expected a row for each of indices: {[*indices.shape, width]}",
    )
    shape_is(out, (numWeights, width), "numWeights rows of grad")
    if 0 in out.shape:
        return nothing()
    padding = paddingIdx if paddingIdx < SIGNED else -1
    plan = direct(
        summed_rows, reads=(grad, indices), writes=(out,), scratch={}, name=indices.name, padding=padding, by_frequency=scaleGradByFreq
    )
    lined_up = indices.dtype in PLACES and grad.shape[:-1] == indices.shape
    return summed(plan, indices, grad, out, padding=padding, mean=scaleGradByFreq) if lined_up else plan


@aclnnEmbeddingDenseBackward.example
def examples() -> Iterator[Example]:
    """Indices that occur more than once; with and without a padding row, scaled and not."""
    for dtype, places, padding, by_frequency in ((FLOAT, INT64, 0, False), (FLOAT16, INT32, 2**64 - 1, True), (BF16, FLOAT, 3, True)):
        yield {
            "grad": numbers((2, 6, 5), dtype, 1),
            "indices": between(0, 4, (2, 6), places, 2).astype(np.int64).astype(places.numpy),
            "numWeights": 4,
            "paddingIdx": padding,
            "scaleGradByFreq": by_frequency,
            "out": numbers((4, 5), dtype, 3),
        }


def summed_rows(grad: Array, indices: Array, out: Array, *, name: str, padding: int, by_frequency: bool) -> None:
    """In float64, in the order of the rows."""
    places = within(np.trunc(indices).astype(np.int64) if indices.dtype.kind not in "iub" else indices.astype(np.int64), len(out), name)
    rows = grad.reshape(places.size, -1)
    out[...] = 0
    if not places.size:
        return
    order, starts = groups(places.reshape(-1))
    sums = np.add.reduceat(rows[order].astype(np.float64), starts, axis=0)
    if by_frequency:
        sums /= np.diff(np.append(starts, order.size))[:, np.newaxis]
    found = places.reshape(-1)[order[starts]]
    sums[found == padding] = 0
    out[found] = dtypes.round_to(sums, dtypes.from_numpy(out.dtype))
