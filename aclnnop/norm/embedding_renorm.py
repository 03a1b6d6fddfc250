"""aclnnEmbeddingRenorm: rows of an embedding scaled down to a largest norm."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, INT32, INT64
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Double, Example, In, InOut, Operand, Plan, Product, between, direct, nothing, numbers, operator
from aclnnop.math.reduction import FLOATS, NEWER, norm


@operator(products=NEWER | {Product.A910})
def aclnnEmbeddingRenorm(
    selfRef: Annotated[Operand, InOut(*FLOATS, const=False, rank=2)],
    indices: Annotated[Operand, In(INT32, INT64)],
    maxNorm: Double,
    normType: Double,
) -> Plan:
    """Scale the rows at ``indices`` whose norm of order ``normType`` is larger than ``maxNorm`` down to it, in place."""
    if 0 in selfRef.shape or 0 in indices.shape:
        return nothing()
    return direct(scale_rows, reads=(indices,), writes=(selfRef,), scratch={}, most=maxNorm, order=normType)


@aclnnEmbeddingRenorm.example
def examples() -> Iterator[Example]:
    """Rows that are named twice, and rows that are not."""
    for dtype, index, order in ((FLOAT, INT64, 2.0), (BF16, INT32, 1.0)):
        yield {"selfRef": numbers((6, 5), dtype, 1), "indices": between(0, 5, (2, 3), index, 1), "maxNorm": 1.5, "normType": order}


def scale_rows(indices: Array, rows: Array, *, most: float, order: float) -> None:
    """Every row once, however often it is named."""
    chosen = np.unique(indices)
    if chosen[0] < 0 or chosen[-1] >= len(rows):
        wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
        raise DeviceFault(f"indices holds {wrong}, outside [0, {len(rows) - 1}]")
    values = rows[chosen].astype(np.float64)
    size = norm(values, axes=(1,), order=order).astype(np.float64)
    factors = np.where(size > most, most / (size + 1e-7), 1.0)
    rows[chosen] = dtypes.round_to(values * factors, dtypes.from_numpy(rows.dtype))
