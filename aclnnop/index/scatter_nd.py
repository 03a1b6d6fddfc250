"""aclnnScatterNd: a copy with slices replaced, each at an index for every dimension that it is chosen from."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16
from acl_emu.spec import Example, In, Operand, Out, Plan, numbers, operator, same_dtype, same_shape
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import PLACES
from aclnnop.index.places import check_tuples, check_updates
from aclnnop.index.scattering import Combine, changed, tuple_slices

TYPES = (FLOAT16, FLOAT, BOOL, BF16)
AnyIn = Annotated[Operand, In(*TYPES, rank=(1, 8))]


@operator(products=NEWER)
def aclnnScatterNd(
    data: AnyIn, indices: Annotated[Operand, In(*PLACES, rank=(1, 8))], updates: AnyIn, out: Annotated[Operand, Out(*TYPES)]
) -> Plan:
    """Copy ``data``, and write each slice of ``updates`` at its tuple of indices, which lie along the last dimension of ``indices``."""
    same_dtype(data, updates, out)
    check_updates(data, indices, updates, check_tuples(data, indices))
    same_shape(data, out)
    return changed(
        tuple_slices,
        data,
        (indices, updates),
        out,
        axes=range(indices.shape[-1]),
        indices=indices.name,
        once=True,
        name=indices.name,
        combine=Combine.REPLACE,
    )


@aclnnScatterNd.example
def examples() -> Iterator[Example]:
    """Elements, rows and matrices."""
    for dtype, index, shape in (
        (FLOAT, np.array([[2, 3, 4], [0, 0, 0]]), (2,)),
        (FLOAT16, np.array([[1], [0]], np.int32), (2, 4, 5)),
        (BF16, np.array([[[1, 3]], [[2, 0]]]), (2, 1, 5)),
        (BOOL, np.array([[2, 1]], np.int32), (1, 5)),
    ):
        yield {
            "data": numbers((3, 4, 5), dtype, 1),
            "indices": index,
            "updates": numbers(shape, dtype, 2),
            "out": numbers((3, 4, 5), dtype, 3),
        }
