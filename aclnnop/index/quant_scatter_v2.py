"""aclnnInplaceQuantScatterV2: updates that are quantised, to one of several types, and written to each batch from an index on."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E4M3FN, FLOAT16, HIFLOAT8, INT8, INT32
from acl_emu.core.errors import AclnnInvalid
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, InOut, Int, Operand, Plan, StringKind, between, numbers, operator, require
from aclnnop.conversion.moves import EIGHTS
from aclnnop.index.gathering import PLACES
from aclnnop.index.quantised import check_scales, check_types, quantised
from aclnnop.index.windows import check_windows, written

MODES = {HIFLOAT8: ("round", "hybrid")}


@operator(products=frozenset({Product.A950}), elsewhere=AclnnInvalid)
def aclnnInplaceQuantScatterV2(
    selfRef: Annotated[Operand, InOut(INT8, *EIGHTS, const=False, rank=(3, 8))],
    indices: Annotated[Operand, In(*PLACES, rank=(1, 2))],
    updates: Annotated[Operand, In(BF16, FLOAT16, rank=(3, 8))],
    quantScales: Annotated[Operand, In(BF16, FLOAT, rank=(1, 8))],
    quantZeroPoints: Annotated[Operand | None, In(BF16, INT32, rank=(1, 8), optional=True)],
    axis: Int,
    quantAxis: Int,
    reduction: Int,
    roundMode: Annotated[str, StringKind()],
) -> Plan:
    """Divide ``updates`` by ``quantScales``, add ``quantZeroPoints``, round, and write each batch from its index on along ``axis``."""
    check_types(updates, quantScales, quantZeroPoints)
    require(updates.rank == selfRef.rank, f"updates has {updates.rank} dimensions, expected as many as selfRef: {selfRef.rank}")
    last = selfRef.rank - 1
    require(axis not in (-1, last), f"axis is {axis}, expected another one than the last")
    check_scales(updates, quantScales, quantZeroPoints, quantAxis, reduction)
    modes = MODES.get(selfRef.dtype, ("rint",))
    require(roundMode in modes, f"roundMode is {roundMode!r}, expected one of {', '.join(modes)} for selfRef of {selfRef.dtype}")
    place = check_windows(selfRef, indices, updates, axis)
    return written(selfRef, indices, updates, place, quantScales, quantZeroPoints, convert=quantised(selfRef.dtype))


@aclnnInplaceQuantScatterV2.example
def examples() -> Iterator[Example]:
    """Indices and pairs of them; several types."""
    for dtype, kind, scale, zero, index, axis in (
        (INT8, FLOAT16, FLOAT, INT32, np.array([1, 0], np.int32), -2),
        (FLOAT8_E4M3FN, BF16, BF16, BF16, np.array([[2, 0], [0, 1]]), 1),
        (INT8, BF16, BF16, None, np.array([1, 1]), -2),
    ):
        yield {
            "selfRef": numbers((3, 4, 8), dtype, 1, 2),
            "indices": index,
            "updates": numbers((2, 2, 8), kind, 2, 9),
            "quantScales": between(0.1, 2, (8,), scale, 3),
            "quantZeroPoints": None if zero is None else between(-9, 9, (8,), zero, 4),
            "axis": axis,
            "quantAxis": -1,
            "reduction": 1,
            "roundMode": "rint",
        }
