"""aclnnArgMin: where the smallest element along a dimension is."""

import numpy as np

from aclnnop.math.extremes import place

aclnnArgMin = place("aclnnArgMin", np.argmin, "Find the index of the first smallest element of every slice along ``dim``.")
