"""aclnnInplaceScatterUpdate: updates that are written to each batch from an index on."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT8_E5M2, FLOAT16, INT8, INT32, UINT8
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, InOut, Int, Operand, Plan, numbers, operator, require, same_dtype
from aclnnop.conversion.moves import EIGHTS, TRAINING
from aclnnop.index.gathering import PLACES, except_on
from aclnnop.index.windows import check_windows, written

TYPES = (INT8, UINT8, FLOAT16, FLOAT, INT32, BF16)
ON = {Product.A950: (*TYPES, *EIGHTS), **except_on(TYPES, (UINT8, BF16), Product.A910)}


@operator(products=TRAINING)
def aclnnInplaceScatterUpdate(
    data: Annotated[Operand, InOut(*TYPES, on=ON, const=False, rank=(2, 8))],
    indices: Annotated[Operand, In(*PLACES, rank=(0, 2))],
    updates: Annotated[Operand, In(*TYPES, on=ON, rank=(2, 8))],
    axis: Int,
) -> Plan:
    """Write each batch of ``updates`` to the same batch of ``data``, from its index on along ``axis``; pairs of indices name the batch."""
    same_dtype(data, updates)
    for operand in (data, indices, updates):
        require(0 not in operand.shape, f"{operand.name} has shape {list(operand.shape)}, expected elements")
    return written(data, indices, updates, check_windows(data, indices, updates, axis))


@aclnnInplaceScatterUpdate.example
def examples() -> Iterator[Example]:
    """One index for each batch, for one batch, and pairs."""
    for dtype, axis, index, shape in (
        (FLOAT, -2, np.array([1, 0, 3]), (3, 2, 1, 5)),
        (FLOAT16, 2, np.array([2, 0], np.int32), (2, 2, 2, 5)),
        (INT8, -1, np.array([[2, 1], [0, 3]]), (2, 2, 4, 2)),
        (INT32, 1, np.array(1, np.int32), (1, 1, 4, 5)),
    ):
        yield {"data": numbers((3, 2, 4, 5), dtype, 1, 9), "indices": index, "updates": numbers(shape, dtype, 2, 9), "axis": axis}


@aclnnInplaceScatterUpdate.example_on(Product.A950, Product.A3, Product.A2)
def more() -> Iterator[Example]:
    """Types that the oldest product lacks."""
    for dtype in (BF16, UINT8):
        yield {"data": numbers((3, 4), dtype, 1, 9), "indices": np.array([1, 0, 2]), "updates": numbers((3, 2), dtype, 2, 9), "axis": -1}


@aclnnInplaceScatterUpdate.example_on(Product.A950)
def newest() -> Iterator[Example]:
    """A type of the newest products."""
    yield {"data": numbers((3, 4), FLOAT8_E5M2, 1), "indices": np.array([1]), "updates": numbers((1, 2), FLOAT8_E5M2, 2), "axis": -1}
