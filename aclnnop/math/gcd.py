"""aclnnGcd: the greatest common divisor of every pair of elements."""

from typing import Any

import numpy as np

from acl_emu.core.dtypes import INT16, INT32, INT64
from acl_emu.spec import Array, In, Product
from aclnnop.math.binary import INTEGERS, UNSIGNED, binary


@binary(*INTEGERS, results=(*INTEGERS, *UNSIGNED), computed=In(*INTEGERS, on={Product.A3: (INT16, INT32, INT64)}))
def aclnnGcd(self: Array, other: Array) -> Any:
    """Take the greatest common divisor of every pair of elements; that of two zeros is 0."""
    return np.gcd(self, other)
