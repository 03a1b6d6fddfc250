"""aclnnArgMax: where the largest element along a dimension is."""

import numpy as np

from aclnnop.math.extremes import place

aclnnArgMax = place("aclnnArgMax", np.argmax, "Find the index of the first largest element of every slice along ``dim``.")
