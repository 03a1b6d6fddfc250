"""aclnnScatterNdUpdate: slices that are replaced in place, each at an index for every dimension that it is chosen from."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT8_E4M3FN, FLOAT16, INT8, INT64
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, InOut, Operand, Plan, numbers, operator, same_dtype
from aclnnop.conversion.moves import EIGHTS, NEWER
from aclnnop.index.gathering import PLACES
from aclnnop.index.places import check_tuples, check_updates
from aclnnop.index.scattering import Combine, changed, tuple_slices

TYPES = (FLOAT16, BF16, FLOAT, INT64, BOOL, INT8)
ON = {Product.A950: (*TYPES, *EIGHTS)}


@operator(products=NEWER)
def aclnnScatterNdUpdate(
    varRef: Annotated[Operand, InOut(*TYPES, on=ON, const=False, rank=(1, 8))],
    indices: Annotated[Operand, In(*PLACES)],
    updates: Annotated[Operand, In(*TYPES, on=ON)],
) -> Plan:
    """Write each slice of ``updates`` at its tuple of indices, which lie along the last dimension of ``indices``."""
    same_dtype(varRef, updates)
    check_updates(varRef, indices, updates, check_tuples(varRef, indices))
    return changed(
        tuple_slices,
        varRef,
        (indices, updates),
        varRef,
        axes=range(indices.shape[-1]),
        indices=indices.name,
        once=True,
        name=indices.name,
        combine=Combine.REPLACE,
        lenient=True,
    )


@aclnnScatterNdUpdate.example
def examples() -> Iterator[Example]:
    """Elements, rows and matrices."""
    for dtype, index, shape in (
        (FLOAT, np.array([[2, 3, 4], [0, 0, 0]]), (2,)),
        (FLOAT16, np.array([[1], [0]], np.int32), (2, 4, 5)),
        (BF16, np.array([[[1, 3]], [[2, 0]]]), (2, 1, 5)),
        (BOOL, np.array([[2, 1]], np.int32), (1, 5)),
        (INT64, np.array([[2, 1]]), (1, 5)),
    ):
        yield {"varRef": numbers((3, 4, 5), dtype, 1, 9), "indices": index, "updates": numbers(shape, dtype, 2, 9)}


@aclnnScatterNdUpdate.example_on(Product.A950)
def more() -> Iterator[Example]:
    """A type of the newest products."""
    dtype = FLOAT8_E4M3FN
    yield {"varRef": numbers((3, 4), dtype, 1), "indices": np.array([[2], [0]]), "updates": numbers((2, 4), dtype, 2)}
