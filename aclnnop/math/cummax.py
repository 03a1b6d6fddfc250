"""aclnnCummax: the largest of all elements up to each, and where it is."""

import numpy as np

from acl_emu.spec import Product
from aclnnop.math.scan import running_extreme

aclnnCummax = running_extreme(
    "aclnnCummax",
    np.maximum,
    "Find the largest of all elements up to each along ``dim``, and the index of the last of them.",
    products=frozenset({Product.A3, Product.A2, Product.A910}),
)
