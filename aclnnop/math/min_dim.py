"""aclnnMinDim: the smallest element along a dimension, and where it is."""

import numpy as np

from aclnnop.math.extremes import with_place

aclnnMinDim = with_place(
    "aclnnMinDim", np.min, np.argmin, "Find the smallest element of every slice along ``dim``, and the index of the first of them."
)
