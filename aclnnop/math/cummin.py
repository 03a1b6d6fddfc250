"""aclnnCummin: the smallest of all elements up to each, and where it is."""

import numpy as np

from aclnnop.math.reduction import ORDERED_OR_BOOL, without_bf16
from aclnnop.math.scan import running_extreme

aclnnCummin = running_extreme(
    "aclnnCummin",
    np.minimum,
    "Find the smallest of all elements up to each along ``dim``, and the index of the last of them.",
    on=without_bf16(*ORDERED_OR_BOOL),
)
