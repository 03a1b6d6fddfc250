"""What operators share that set the elements which a mask chooses to one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT32, INT64
from acl_emu.core.soc import Product
from acl_emu.spec import Array, Operand, Plan, broadcasts_to, mapped

TYPES = (BOOL, INT8, INT32, INT64, FLOAT, FLOAT16, BF16)
OLD_TYPES = tuple(dtype for dtype in TYPES if dtype is not BF16)
OLDER = dict.fromkeys((Product.A910, Product.A310P), OLD_TYPES)


def filled(self: Operand, mask: Operand, *value: Operand, **number: Any) -> Plan:
    """In place, with the number that ``value`` holds, or one that is given."""
    broadcasts_to(self.shape, f"the shape of {self.name}", mask)
    return mapped(choose, reads=(self, mask, *value), writes=(self,), dtype=self.dtype, raw=(mask,), **number)


def choose(x: Array, mask: Array, value: Array | None = None, *, number: Any = None) -> Array:
    """The formula."""
    return np.where(mask, number if value is None else value, x)
