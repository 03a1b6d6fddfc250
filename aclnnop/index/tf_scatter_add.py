"""aclnnTfScatterAdd: slices that are added in place, by one index each or by several."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, InOut, Operand, Plan, between, numbers, operator, require, same_dtype
from aclnnop.index.gathering import PLACES
from aclnnop.index.places import check_tuples, check_updates
from aclnnop.index.scattering import Combine, changed, slices, tuple_slices

TYPES = (FLOAT, FLOAT16, BF16, INT32, INT8, UINT8)


@operator(products=frozenset({Product.A3, Product.A2}))
def aclnnTfScatterAdd(
    varRef: Annotated[Operand, InOut(*TYPES, const=False, rank=(1, 8))],
    indices: Annotated[Operand, In(*PLACES, rank=(1, 8))],
    updates: Annotated[Operand, In(*TYPES, rank=(1, 8))],
) -> Plan:
    """Add a slice of ``updates`` for each index, or for each tuple of indices; one that is outside counts for nothing."""
    same_dtype(varRef, updates)
    require(
        0 not in varRef.shape or 0 in indices.shape, f"varRef has shape {list(varRef.shape)}, expected elements for those of {indices.name}"
    )
    one_each = updates.shape == (*indices.shape, *varRef.shape[1:])
    if not one_each:
        check_updates(varRef, indices, updates, check_tuples(varRef, indices))
    return changed(
        slices if one_each else tuple_slices,
        varRef,
        (indices, updates),
        varRef,
        axes=range(1 if one_each else indices.shape[-1]),
        indices=indices.name,
        name=indices.name,
        combine=Combine.ADD,
        lenient=True,
    )


@aclnnTfScatterAdd.example
def examples() -> Iterator[Example]:
    """Rows by one index, and elements by two; the same one more than once."""
    for dtype, places, shape in (
        (FLOAT, INT64, (2, 3, 4)),
        (FLOAT16, INT32, (5, 4)),
        (BF16, INT64, (6,)),
        (INT32, INT32, (2, 3)),
        (UINT8, INT64, (1, 4)),
    ):
        rows = len(shape) > 1 and shape[-1] == 4
        index = between(0, 3, shape[:-1] if rows else (*shape, 2), places, 2)
        yield {"varRef": numbers((3, 4), dtype, 1, 9), "indices": index, "updates": numbers(shape, dtype, 3, 9)}
