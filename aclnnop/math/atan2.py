"""aclnnAtan2 and aclnnInplaceAtan2: the angle of every point."""

from typing import Any

import numpy as np

from acl_emu.spec import Array, In, in_place
from aclnnop.math.binary import REAL_NUMBERS, binary, floating
from aclnnop.math.unary import REALS


@binary(*REAL_NUMBERS, results=REALS, rule=floating)
def aclnnAtan2(self: Array, other: Array) -> Any:
    """Take the angle of every point, whose coordinates are ``other`` and ``self``."""
    return np.arctan2(self, other)


aclnnInplaceAtan2 = in_place(aclnnAtan2, *REAL_NUMBERS, instead={"other": In(*REAL_NUMBERS, const=False)})
