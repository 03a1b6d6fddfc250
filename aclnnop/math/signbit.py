"""aclnnSignbit: whether the sign bit of every element is set."""

from typing import Any

import numpy as np

from acl_emu.spec import Array
from aclnnop.math.binary import EVERY, NOT_310, ORDERED
from aclnnop.math.predicate import predicate


def negative(x: Array) -> Any:
    """Of integers."""
    return x < 0


@predicate(*ORDERED, results=EVERY, integers=negative, products=NOT_310)
def aclnnSignbit(self: Array) -> Any:
    """Tell whether the sign bit of every element is set: that of a negative zero is, too."""
    return np.signbit(self)
