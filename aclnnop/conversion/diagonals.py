"""What aclnnDiag and aclnnDiagFlat share: a matrix with given elements on a diagonal."""

from __future__ import annotations

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Array, Operand, Plan, shape_is
from aclnnop.conversion.moves import rearranged

TYPES = (FLOAT, FLOAT16, DOUBLE, INT32, INT64, INT16, INT8, UINT8, BOOL, COMPLEX64, BF16)


def on_diagonal(self: Operand, diagonal: int, out: Operand) -> Plan:
    """The elements in order on a diagonal of a matrix that is just large enough."""
    side = self.size + abs(diagonal)
    shape_is(out, (side, side), "a side of the elements of self and the distance of the diagonal")
    return rearranged(spread, (self,), out, diagonal=diagonal, side=side)


def spread(x: Array, *, diagonal: int, side: int) -> Array:
    """Zeros elsewhere."""
    found = np.zeros((side, side), x.dtype)
    places = np.arange(x.size)
    found[places + max(-diagonal, 0), places + max(diagonal, 0)] = x.reshape(-1)
    return found
