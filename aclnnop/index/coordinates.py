"""Where a tensor is not zero."""

from __future__ import annotations

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import UINT16, UINT32, UINT64, DType
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Operand, numbers, require
from aclnnop.index.gathering import REAL

TYPES = (*REAL, UINT16, UINT32, UINT64)
_LONGEST = 2**31 - 1
_BLOCK = 1 << 16


def check_lengths(self: Operand) -> None:
    """161002 for a dimension whose coordinates INT32 does not hold; the newest products have none that is too long."""
    if (chip := soc.current()).product is Product.A950:
        return
    require(
        max(self.shape, default=0) <= _LONGEST,
        f"self has shape {list(self.shape)}, expected at most {_LONGEST} in a dimension on {chip.name}",
    )


def sparse(shape: tuple[int, ...], dtype: DType) -> Array:
    """Numbers, every third of which is 0."""
    values = numbers(shape, dtype, 1, 9)
    values.reshape(-1)[::3] = 0
    return values


def coordinates(values: Array) -> Array:
    """In the order of the elements; many are looked at block by block, which the caches hold."""
    if values.size <= _BLOCK:
        return np.argwhere(_differs(values))
    flat = values.reshape(-1)
    blocks = [np.flatnonzero(_differs(flat[first : first + _BLOCK])) + first for first in range(0, flat.size, _BLOCK)]
    found = np.empty((sum(map(len, blocks)), values.ndim), np.int64)
    begin = 0
    for block in blocks:
        rows, index = found[begin : begin + len(block)], block
        for axis in range(values.ndim - 1, 0, -1):
            above = index // values.shape[axis]
            np.subtract(index, above * values.shape[axis], out=rows[:, axis])
            index = above
        rows[:, 0] = index
        begin += len(block)
    return found


def _differs(values: Array) -> Array:
    """From zero."""
    return values if values.dtype == np.bool_ else np.not_equal(values, 0)
