"""aclnnAny: whether an element is true."""

import numpy as np

from aclnnop.math.truths import truth

aclnnAny = truth("aclnnAny", np.any, 0.0, "Tell of every slice along ``dim`` whether an element is not zero.")
