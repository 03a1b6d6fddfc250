"""aclnnIsFinite: whether every element is finite."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import NOT_310, REAL_NUMBERS
from aclnnop.math.predicate import always, predicate


@predicate(*REAL_NUMBERS, integers=always, products=NOT_310)
def aclnnIsFinite(self: Array) -> Any:
    """Tell whether every element is finite: neither infinite nor NaN."""
    return np.abs(self) < np.inf
