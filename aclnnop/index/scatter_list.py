"""aclnnScatterList: updates that are written to each tensor of a list from an index on."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT16, INT32, UINT8, UINT16, UINT32
from acl_emu.spec import Example, In, InOut, Int, ListOf, Operand, Plan, StringKind, direct, nothing, numbers, operator, require, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import PLACES
from aclnnop.index.windows import listed

TYPES = (INT8, INT16, INT32, UINT8, UINT16, UINT32, FLOAT16, BF16, FLOAT)


@operator(products=NEWER)
def aclnnScatterList(
    varRef: Annotated[list[Operand], ListOf(InOut(*TYPES, const=False))],
    indice: Annotated[Operand, In(*PLACES)],
    updates: Annotated[Operand, In(*TYPES)],
    maskOptional: Annotated[Operand | None, In(UINT8, optional=True)],
    reduceOptional: Annotated[str | None, StringKind("char*", optional=True, choices=("update",))],
    axis: Int,
) -> Plan:
    """Write each slice of ``updates`` to its tensor of the list, from its index on along ``axis``, which is one of ``updates``.

    Pairs are where to begin, and how much to write. Tensors whose ``maskOptional`` is 0 are left alone.
    """
    first, count = varRef[0], len(varRef)
    for member in varRef:
        require(member.dtype is updates.dtype, f"{member.name} has dtype {member.dtype}, expected that of updates: {updates.dtype}")
    with in_tiling():
        for member in varRef:
            shape_is(member, first.shape, f"as {first.name}")
        rank = updates.rank
        require(first.rank >= 1, f"{first.name} has 0 dimensions, expected 1 to 8")
        require(rank == first.rank + 1, f"updates has {rank} dimensions, expected one more than {first.name}: {first.rank + 1}")
        require(-rank < axis < rank and axis != 0, f"axis is {axis}, expected a value in [{1 - rank}, {rank - 1}] that is not 0")
        place = axis % rank
        wanted = (count, *first.shape)
        fits = all(own == length for at, (own, length) in enumerate(zip(updates.shape, wanted, strict=True)) if at != place)
        require(
            fits and updates.shape[place] <= wanted[place],
            f"updates has shape {list(updates.shape)}, expected {list(wanted)}, or less along dimension {place}",
        )
        require(indice.shape in ((count,), (count, 2)), f"indice has shape {list(indice.shape)}, expected [{count}] or [{count}, 2]")
        if maskOptional is not None:
            shape_is(maskOptional, (count,), "one for each tensor of varRef")
    if 0 in first.shape or 0 in updates.shape:
        return nothing()
    return direct(listed, reads=(indice, updates, maskOptional), writes=varRef, scratch={}, axis=place, name=indice.name)


@aclnnScatterList.example
def examples() -> Iterator[Example]:
    """Indices, and pairs of them; with a mask and without."""
    for dtype, index, length, mask, axis in (
        (FLOAT, np.array([[0, 1], [2, 2]]), 2, None, -2),
        (FLOAT16, np.array([1, 0], np.int32), 3, np.array([1, 0], np.uint8), 2),
        (BF16, np.array([3, 2]), 1, None, -1),
        (INT32, np.array([4, 1]), 1, np.ones(2, np.uint8), 1),
    ):
        shape = [2, 5, 4, 4]
        shape[axis] = length
        yield {
            "varRef": [numbers((5, 4, 4), dtype, seed, 9) for seed in (1, 2)],
            "indice": index,
            "updates": numbers(tuple(shape), dtype, 3, 9),
            "maskOptional": mask,
            "reduceOptional": "update",
            "axis": axis,
        }
