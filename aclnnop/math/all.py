"""aclnnAll: whether all elements are true."""

import numpy as np

from aclnnop.math.truths import truth

aclnnAll = truth("aclnnAll", np.all, 1.0, "Tell of every slice along ``dim`` whether no element is zero.")
