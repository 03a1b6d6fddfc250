"""aclnnGatherV3: slices of a tensor along one dimension, by indices of any shape, batch by batch."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, FLOAT, FLOAT16, INT32, INT64
from acl_emu.spec import Example, In, Int, Operand, Out, Plan, between, numbers, operator, require, same_dtype, shape_is, wrap_dim
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import NUMBERS, PLACES, gathered

TYPES = tuple(dtype for dtype in NUMBERS if dtype is not COMPLEX128)


@operator(products=NEWER)
def aclnnGatherV3(
    self: Annotated[Operand, In(*TYPES)],
    dim: Int,
    index: Annotated[Operand, In(*PLACES)],
    batchDims: Int,
    mode: Int,
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Take the slices of ``self`` along ``dim`` that ``index`` chooses; the first ``batchDims`` dimensions of both go together."""
    same_dtype(self, out)
    axis = wrap_dim(dim, self)
    most = min(axis, index.rank)
    require(0 <= batchDims <= most, f"batchDims is {batchDims}, expected a value in [0, {most}]: dim, and the dimensions of index")
    batch = self.shape[:batchDims]
    require(
        index.shape[:batchDims] == batch,
        f"index has shape {list(index.shape)}, expected it to begin as self does in {batchDims} dimensions: {list(batch)}",
    )
    chosen = index.shape[batchDims:] if index.rank or out.rank < max(self.rank, 1) else (1,)
    shape_is(out, (*self.shape[:axis], *chosen, *self.shape[axis + 1 :]), "self with the shape of index along dim")
    return gathered(self, index, out, axis, batch=batchDims)


@aclnnGatherV3.example
def examples() -> Iterator[Example]:
    """One batch, and several, of one dimension and of two."""
    for dtype, dim, batch, places, shape, out in (
        (FLOAT, 0, 0, INT64, (2, 2), (2, 2, 4, 5)),
        (FLOAT16, 1, 0, INT32, (6,), (3, 6, 5)),
        (BF16, 2, 1, INT64, (3, 2, 2), (3, 4, 2, 2)),
        (BOOL, -1, 2, INT32, (3, 4, 6), (3, 4, 6)),
        (COMPLEX64, 1, 1, INT64, (3,), (3, 5)),
        (INT32, 2, 2, INT64, (3, 4), (3, 4)),
    ):
        yield {
            "self": numbers((3, 4, 5), dtype, 1, 9),
            "dim": dim,
            "index": between(0, 3, shape, places, 2),
            "batchDims": batch,
            "mode": 1,
            "out": numbers(out, dtype, 3),
        }
