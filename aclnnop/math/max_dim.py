"""aclnnMaxDim: the largest element along a dimension, and where it is."""

import numpy as np

from aclnnop.math.extremes import with_place

aclnnMaxDim = with_place(
    "aclnnMaxDim", np.max, np.argmax, "Find the largest element of every slice along ``dim``, and the index of the first of them."
)
