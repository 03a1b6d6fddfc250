"""Where a tensor is not zero."""

from __future__ import annotations

import numpy as np

from acl_emu.core.dtypes import UINT16, UINT32, UINT64, DType
from acl_emu.spec import Array, numbers
from aclnnop.index.gathering import REAL

TYPES = (*REAL, UINT16, UINT32, UINT64)


def sparse(shape: tuple[int, ...], dtype: DType) -> Array:
    """Numbers, every third of which is 0."""
    values = numbers(shape, dtype, 1, 9)
    values.reshape(-1)[::3] = 0
    return values


def coordinates(values: Array) -> Array:
    """In the order of the elements."""
    return np.argwhere(values if values.dtype == np.bool_ else values != 0)
