"""aclnnInplaceQuantScatter: updates that are quantised and written to each batch from an index on."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, InOut, Int, Operand, Plan, between, numbers, operator, require
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import PLACES, except_on
from aclnnop.index.quantised import check_scales, check_types, quantised
from aclnnop.index.windows import check_windows, written

UPDATES, SCALES, ZEROS = (BF16, FLOAT16), (BF16, FLOAT), (BF16, INT32)


@operator(products=NEWER | {Product.A310P})
def aclnnInplaceQuantScatter(
    selfRef: Annotated[Operand, InOut(INT8, const=False, rank=(3, 8))],
    indices: Annotated[Operand, In(*PLACES, rank=1)],
    updates: Annotated[Operand, In(*UPDATES, on=except_on(UPDATES, (BF16,), Product.A310P))],
    quantScales: Annotated[Operand, In(*SCALES, on=except_on(SCALES, (BF16,), Product.A310P))],
    quantZeroPoints: Annotated[Operand | None, In(*ZEROS, on=except_on(ZEROS, (BF16,), Product.A310P), optional=True)],
    axis: Int,
    quantAxis: Int,
    reduction: Int,
) -> Plan:
    """Divide ``updates`` by ``quantScales``, add ``quantZeroPoints``, round, and write each batch from its index on along ``axis``."""
    check_types(updates, quantScales, quantZeroPoints)
    require(axis in (-2, selfRef.rank - 2), f"axis is {axis}, expected -2")
    check_scales(updates, quantScales, quantZeroPoints, quantAxis, reduction)
    place = check_windows(selfRef, indices, updates, axis)
    return written(selfRef, indices, updates, place, quantScales, quantZeroPoints, convert=quantised(INT8))


@aclnnInplaceQuantScatter.example
def examples() -> Iterator[Example]:
    """With zero points and without."""
    for zeros in (between(-9, 9, (1, 1, 32), INT32, 5), None):
        yield {
            "selfRef": numbers((3, 4, 32), INT8, 1, 9),
            "indices": np.array([1, 0], np.int32),
            "updates": numbers((2, 2, 32), FLOAT16, 2, 9),
            "quantScales": between(0.1, 2, (1, 1, 32), FLOAT, 3),
            "quantZeroPoints": zeros,
            "axis": -2,
            "quantAxis": -1,
            "reduction": 1,
        }


@aclnnInplaceQuantScatter.example_on(*NEWER)
def newer() -> Iterator[Example]:
    """All of them BF16."""
    yield {
        "selfRef": numbers((3, 4, 32), INT8, 1, 9),
        "indices": np.array([2, 3, 0]),
        "updates": numbers((3, 1, 32), BF16, 2, 9),
        "quantScales": between(0.1, 2, (1, 1, 32), BF16, 3),
        "quantZeroPoints": between(-9, 9, (1, 1, 32), BF16, 4),
        "axis": -2,
        "quantAxis": 2,
        "reduction": 1,
    }
